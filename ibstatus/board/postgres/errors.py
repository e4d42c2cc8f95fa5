"""What psycopg's errors mean to a user. A DSN holds a password: no text that was made from one is passed on."""

import re

import psycopg

from ibstatus.board.port import Broken, Gone
from ibstatus.errors import IbError

CONFIG = "ib config set board.dsn 'postgresql://user@host/database'; the password: ~/.pgpass"
AGAIN = "run the command again once the server answers"
UNKNOWN, LOOK = "whether the last change was made is not known", "look before you repeat it: ib board list"
SERVER_GONE = ("08", "57P")
LOCKED = "55P03"
AFTERWARDS = ("57014", "53", "58", "XX")  # cancelled, out of something, the disk: it can come when the change is made
# libpq says why only in words, and in the same breath quotes pieces of the DSN: it is recognised, not repeated.
WHY_NOT = (
    ("password authentication failed", "the password or the user is wrong"),
    ("no password supplied", "it asks for a password"),
    ("no pg_hba.conf entry", "it does not let this user in from here"),
    ("could not translate host name", "nobody knows a host of that name"),
    ("Name or service not known", "nobody knows a host of that name"),
    ("Servname not supported", "the port is no number"),
    ("does not exist", "the database or the user does not exist"),
    ("permission denied", "this user may not"),
    ("invalid port", "the port is no number"),
    ("invalid integer value", "an option that is a number is none"),
    ("invalid connection option", "there is an option that libpq does not know"),
    ("invalid sslmode", "sslmode has no such value"),
    ("SSL", "TLS could not be agreed on"),
)
NOT_NOW = (
    ("starting up", "it is just starting"),
    ("shutting down", "it is shutting down"),
    ("too many clients", "it has too many clients"),
    ("too many connections", "it has too many clients"),
    ("remaining connection slots", "it has too many clients"),
    ("Connection refused", "nobody listens there"),
    ("No such file or directory", "nobody listens there"),
    ("timeout", "it does not answer"),
    ("timed out", "it does not answer"),
)


def unreadable() -> IbError:
    return IbError("The board's DSN cannot be read", cause="it is neither a URL nor key=value words", hint=CONFIG)


def unreachable(error: psycopg.Error, host: str | None) -> IbError:
    """No connection came about. For good (a wrong password), or for now: `Gone`."""
    what = f"The board's PostgreSQL{named(host)} cannot be reached"
    text = str(error)
    for sign, words in NOT_NOW:
        if sign in text:
            return Gone(what, cause=words, hint=AGAIN)
    for sign, words in WHY_NOT:
        if sign in text:
            return IbError(what, cause=words, hint=CONFIG)
    return Gone(what, hint=AGAIN)


def named(host: str | None) -> str:
    """Only what can be nothing but a host: a password with an @ in it makes libpq take its rest for one."""
    return f" at {host}" if host and re.fullmatch(r"[\w.:-]+|/[\w./-]+", host) else ""


def meant(error: psycopg.Error, *, broken: bool, halves: bool = False) -> IbError:
    """A statement failed. What the server itself says holds nothing of the DSN. `halves`: it commits before its end."""
    state = error.sqlstate or ""
    if halves and state.startswith(AFTERWARDS):
        return Broken(f"The board's PostgreSQL ended the call ({state})", cause=UNKNOWN, hint=LOOK)
    if broken or state.startswith(SERVER_GONE):
        return Broken("The connection to the board's PostgreSQL broke off", cause=UNKNOWN, hint=LOOK)
    if state == LOCKED:
        return IbError("Another program keeps the board locked", hint="end what has a transaction open on ib_board")
    said = error.diag.message_primary or type(error).__name__
    return IbError("The board refused that", cause=f"{said} ({state})" if state else said)
