"""Servers on loopback that play a script: what model providers send, and how they fail."""

from oracle.testing.servers.scripted import Drop as Drop
from oracle.testing.servers.scripted import Reply as Reply
from oracle.testing.servers.scripted import Request as Request
from oracle.testing.servers.scripted import ScriptedServer as ScriptedServer
from oracle.testing.servers.scripted import Stall as Stall
from oracle.testing.servers.scripted import in_pieces as in_pieces
