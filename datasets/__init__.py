"""Manifests of the datasets, one YAML each: addresses, digests, sizes, licences, citations."""
