"""The MCP door: other programs ask, search and read over the Model Context Protocol.

One server for both transports (stdio, streamable HTTP) and for both eras of the protocol. Only the
modules of this room import the SDK.
"""
