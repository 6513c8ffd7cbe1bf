#!/usr/bin/python3
"""Finds SSH servers that still accept protocol 1: they announce version 1.5 or 1.99 (RFC 4253, section 5.1)."""
import sys

from portolan_plugin import Plugin, serve


class SshProtocolOne(Plugin):
    name = "ssh_protocol_one"
    description = "Finds SSH servers that accept protocol 1."
    requires = ["banners"]
    provides = ["vulnerabilities"]
    options = {
        "severity": {
            "Type": "string",
            "Description": "Severity of the findings.",
            "Default": "medium",
            "Enum": ["info", "low", "medium", "high", "critical"],
        },
    }

    def execute(self, context, config):
        found = [finding(banner, config["severity"]) for banner in context["banners"] if accepts_protocol_one(banner)]
        return {"vulnerabilities": found}


def accepts_protocol_one(banner):
    return banner["banner"].startswith(("SSH-1.5-", "SSH-1.99-"))


def finding(banner, severity):
    return {
        "id": "ssh-protocol-one",
        "title": "SSH server accepts protocol 1",
        "host": banner["host"],
        "port": banner["port"],
        "protocol": banner["protocol"],
        "severity": severity,
        "class": "certain",
        "confidence": 1,
        "evidence": banner["banner"].splitlines()[0],
        "remediation": "Allow protocol 2 only (OpenSSH: remove Protocol 1, or update it).",
        "references": ["https://www.rfc-editor.org/rfc/rfc4253#section-5.1"],
    }


if __name__ == "__main__":
    serve(SshProtocolOne(), sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:50051")
