def primes(n):
    out = []
    for i in range(2, n):
        for p in out:
            if p * p > i:
                out.append(i)
                break
            if i % p == 0:
                break
        else:
            out.append(i)
    return out


print(len(primes(5000)), primes(50))
