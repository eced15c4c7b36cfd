# Only

# comments
