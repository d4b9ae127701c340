"""Where posted bodies arrive and meet whoever waits for them: callbacks and webhooks.

`memory` is for one process, which listens itself; `stored` for several, of which one listens
(`serving`). Both answer posts with the same `application`.
"""
