import { lookup as dnsLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { ToolError } from '../tool.ts'
import { isPublicAddress } from './public-address.ts'

/** Whether the document allows this host, whatever its address is and whether or not it speaks TLS. */
export function isAllowedHost(url: URL, allowedHosts: string[]): boolean {
  return allowedHosts.some((entry) => {
    const allowed = `${url.protocol}//${entry}`
    return URL.canParse(allowed) && new URL(allowed).host === url.host
  })
}

/** Why nothing may be sent to this URL, as far as can be said without looking its name up; null when it may. */
export function refusalOf(url: URL, allowedHosts: string[]): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  if (isAllowedHost(url, allowedHosts)) return null
  if (url.protocol === 'http:') return `must begin with https://, unless allowedHosts names "${url.host}"`
  const address = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isRefused = isIP(address) !== 0 && !isPublicAddress(address)
  return isRefused ? `leads to an address that is not public, unless allowedHosts names "${url.host}"` : null
}

/**
 * A look-up that fails when any address found is not public. A socket connects to what its own look-up returned, so
 * no second look-up can say something else in between (DNS rebinding).
 */
export function publicLookup(lookup: LookupFunction = dnsLookup as LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const addresses = Array.isArray(found) ? found : []
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(new ToolError(`the host ${hostname} has an address that is not public`), '')
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
}
