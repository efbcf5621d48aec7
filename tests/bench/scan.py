"""The output of a scan, with secrets in it, the same in every run."""

import base64
import random
import string

# So many of the secrets are in the text, once a piece.
PLANTED = 20
PIECE = 16 * 1024

ALPHANUMERIC = string.ascii_letters + string.digits
SERVICES = ["http", "ssh", "postgresql", "ms-wbt-server", "imap"]


def secrets(count):
    """Secrets as environments hold them: tokens, keys, passwords with punctuation, and a few phrases."""
    numbers = random.Random(7)

    def letters(length):
        return "".join(numbers.choices(ALPHANUMERIC, k=length))

    kinds = [
        lambda: f"ghp_{letters(36)}",
        lambda: base64.b64encode(numbers.randbytes(30)).decode(),
        lambda: f"{letters(6)}@{letters(6)}!",
        lambda: f"service-password-{numbers.randrange(10**8):08}",
    ]
    return [kinds[at % len(kinds)]() for at in range(count)]


def line(numbers):
    a, b, c = numbers.randrange(256), numbers.randrange(256), numbers.randrange(65536)
    service = numbers.choice(SERVICES)
    kinds = [
        f"{c}/tcp   open   {service:<14} syn-ack ttl 64 nginx 1.{a}.{b} (Ubuntu)",
        f"Nmap scan report for host-{a}.internal.example.com (10.0.{a}.{b})",
        f"2026-12-02T01:02:03.{c:05}Z INFO request id={a * c:08x} user=scan path=/api/v1/items",
        f"< Set-Cookie: session={a * b * c:016x}; Path=/; HttpOnly; password policy ok",
    ]
    return numbers.choice(kinds) + "\n"


def output(length):
    """Port tables, log lines and headers, as ASCII, and each `PIECE` bytes the next of the secrets."""
    numbers, planted = random.Random(11), secrets(PLANTED)
    parts, size, pieces = [], 0, 0
    while size < length:
        if size >= pieces * PIECE:
            part = f"key={planted[pieces % PLANTED]}\n"
            pieces += 1
        else:
            part = line(numbers)
        parts.append(part)
        size += len(part)
    return "".join(parts)[:length]
