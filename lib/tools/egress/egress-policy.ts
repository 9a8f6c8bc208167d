import { lookup as dnsLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { ToolError } from '../tool.ts'
import { isPublicAddress } from './public-address.ts'

/** Where a tool may connect to. By default only to public addresses over HTTPS. */
export type EgressPolicy = {
  /** Hosts that may also have other addresses and use plain HTTP. */
  allowedHosts: string[]
  /** Resolves host names. Default: `dns.lookup`. */
  lookup?: LookupFunction | undefined
}

/** Finds out why a URL is denied, as far as possible without resolving its host; null if it is not. */
export function findUrlProblem(url: URL, allowedHosts: string[]): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https://'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (isAllowedHost(url, allowedHosts)) return null
  if (url.protocol === 'http:') return `must start with https:// unless allowedHosts contains "${url.host}"`
  const address = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isDenied = isIP(address) !== 0 && !isPublicAddress(address)
  return isDenied ? `must not use a non-public address unless allowedHosts contains "${url.host}"` : null
}

/** The lookup function for a request to a URL; undefined for the default. */
export function lookupFor(url: URL, { allowedHosts, lookup }: EgressPolicy): LookupFunction | undefined {
  return isAllowedHost(url, allowedHosts) ? lookup : publicLookup(lookup)
}

function isAllowedHost(url: URL, allowedHosts: string[]): boolean {
  return allowedHosts.some((entry) => {
    const allowed = `${url.protocol}//${entry}`
    return URL.canParse(allowed) && new URL(allowed).host === url.host
  })
}

/**
 * A lookup that fails if any of the addresses is not public. The socket connects to an address that this lookup
 * returned, so a second DNS response cannot replace it (DNS rebinding).
 */
export function publicLookup(lookup: LookupFunction = dnsLookup as LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const addresses = Array.isArray(found) ? found : []
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(new ToolError(`the host ${hostname} resolves to a non-public address`), '')
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
}
