//! Certificates, made when a TLS server starts, and the file that a client needs to trust them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::script::Certificate;

/// A server's TLS configuration and the CA that signed for it.
pub struct Tls {
    pub config: Arc<ServerConfig>,
    pub ca_file: CaFile,
}

/// A PEM file with the CA's certificate; gone when dropped.
pub struct CaFile(PathBuf);

impl CaFile {
    /// Where it is.
    pub fn path(&self) -> &PathBuf {
        &self.0
    }
}

impl Drop for CaFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Tls {
    /// A CA of its own and a certificate of the given kind.
    pub fn new(kind: Certificate) -> Result<Tls, String> {
        make(kind).map_err(|e| format!("TLS: {e}"))
    }
}

fn make(kind: Certificate) -> Result<Tls, Box<dyn std::error::Error>> {
    let mut ca = CertificateParams::default();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.distinguished_name.push(DnType::CommonName, "scripted server CA");
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate()?)?;

    let names: &[&str] = match kind {
        Certificate::WrongName => &["elsewhere.example"],
        Certificate::Good | Certificate::Expired => &["localhost", "127.0.0.1", "::1"],
    };
    let mut leaf = CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())?;
    leaf.not_before = rcgen::date_time_ymd(2019, 1, 1);
    leaf.not_after = rcgen::date_time_ymd(if kind == Certificate::Expired { 2020 } else { 2999 }, 1, 1);
    let key = KeyPair::generate()?;
    let certificate = leaf.signed_by(&key, &ca)?;

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    Ok(Tls { config: Arc::new(config), ca_file: write_ca(&ca.pem())? })
}

fn write_ca(pem: &str) -> std::io::Result<CaFile> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("scripted-server-{}-{}.pem", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    fs::write(&path, pem)?;
    Ok(CaFile(path))
}
