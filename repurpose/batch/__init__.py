"""Many sources, every night: planned, then done within a budget, and never paid for twice.

A plan is kept in the store and not in memory, and so is everything that a later night goes by. The
store's leases keep processes apart; no file has to be locked.
"""
