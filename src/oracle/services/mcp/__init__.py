"""Tools of other servers, over the Model Context Protocol.

Whatever such a server does costs at most one tool error and its time limit. Only `connection` and
`transports` import the SDK, and only when a server is needed.
"""
