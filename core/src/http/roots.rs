//! Which certificate authorities are trusted.

use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::process::PerProcess;

/// The system's authorities, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR` in their place, as for OpenSSL; where there
/// are none, Mozilla's as compiled in. The crypto provider is named here, so that whatever a host program has chosen
/// for the whole process does not matter.
///
/// Read once a process: it takes some milliseconds.
pub(super) fn tls_config() -> TlsConfig {
    static ROOTS: PerProcess<RootCerts> = PerProcess::new();
    let roots = ROOTS.get_or_make(|| {
        let found = rustls_native_certs::load_native_certs();
        let certificates: Vec<_> =
            found.certs.iter().map(|certificate| Certificate::from_der(certificate.as_ref()).to_owned()).collect();
        match certificates.is_empty() {
            true => RootCerts::WebPki,
            false => RootCerts::Specific(Arc::new(certificates)),
        }
    });
    TlsConfig::builder()
        .root_certs(RootCerts::clone(roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}
