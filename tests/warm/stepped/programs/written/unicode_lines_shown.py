# ends: RuntimeError
def f():
    """Ein Satz mit Umlauten: äöü, 日本語, 🎉."""
    x = "🎉" * 2; raise RuntimeError("🎉 " + x)


f()
