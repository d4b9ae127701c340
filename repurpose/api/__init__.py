"""The library's doors, and the only folder that picks adapters.

Each door has a synchronous and an asynchronous form. A failed format is a result with a 400
envelope and never an exception; what is raised is a source that cannot be read, a setting that
cannot be used, or a database that cannot be opened.
"""
