"""Certificates are read once for each set that is asked for."""

import certifi
import httpx
import httpx2

from oracle.services.certificates import certificates


def test_a_set_of_certificates_is_read_once():
    first = certificates(httpx2.create_ssl_context)
    assert first.get_ca_certs()
    assert certificates(httpx2.create_ssl_context) is first
    assert certificates(httpx.create_ssl_context) is not first


def test_certificates_that_the_environment_names_are_read_instead(monkeypatch):
    usual = certificates(httpx.create_ssl_context)
    alone = certificates(httpx.create_ssl_context, trust_env=False)
    monkeypatch.setenv("SSL_CERT_FILE", certifi.where())
    assert certificates(httpx.create_ssl_context) is not usual
    assert certificates(httpx.create_ssl_context, trust_env=False) is alone
