import type { FieldMap } from '../schema/field-map.ts'
import { refusalOf } from './egress/egress-policy.ts'
import { placeholdersOf } from './http/url-template.ts'
import { SECRET_REFERENCE } from './secrets.ts'
import type { HttpDocument } from './tool-document.ts'

/** Takes one finding, worded to be read after the field's name. */
export type Report = (path: PropertyKey[], message: string, options?: { isMissing: boolean }) => void

const SCALARS = ['string', 'number', 'integer', 'boolean']
const NO_SECRET = 'must not hold a secret: they may stand in the values of headers only'
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
/** Set for each request, or about the connection: not the document's to say. */
const OWN_HEADERS = [
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'mcp-protocol-version',
  'mcp-session-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * Secrets stand in header values and nowhere else: what is sent elsewhere is logged by whoever receives it. The fields
 * of a target are checked by `checkHeaders` and `urlFault`.
 */
export function checkWords(value: unknown, report: Report, path: PropertyKey[] = []): void {
  if (typeof value === 'string' && value.includes('${secret:')) {
    report(path, NO_SECRET)
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    const isTarget = path[0] === 'http' || path[0] === 'mcp'
    if (!isTarget || (key !== 'headers' && key !== 'url')) checkWords(child, report, [...path, key])
  }
}

export function checkHeaders(headers: Record<string, string>, path: PropertyKey[], report: Report): void {
  for (const [name, value] of Object.entries(headers)) {
    const at = [...path, name]
    if (!HEADER_NAME.test(name)) report(at, 'is not the name of a header')
    if (OWN_HEADERS.includes(name.toLowerCase())) report(at, 'is set by the service')
    if (!HEADER_VALUE.test(value)) report(at, 'must be printable ASCII characters')
    if (value.replace(SECRET_REFERENCE, '').includes('${')) {
      report(at, `holds a "\${" that is not a secret such as \${secret:SHOP_KEY}`)
    }
  }
}

/** What is wrong with a URL: it cannot be read, or leads where the document may not reach; null when nothing is. */
export function urlFault(target: { url: string; allowedHosts: string[] }): string | null {
  if (target.url.includes('${secret:')) return NO_SECRET
  if (!URL.canParse(target.url)) return 'must be a URL such as https://shop.example/orders'
  const url = new URL(target.url)
  const isHost = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/.test(url.hostname)
  if (!isHost) return `has the host "${url.hostname}", which is not a host's name`
  return url.hash === '' ? refusalOf(url, target.allowedHosts) : 'must not have a fragment'
}

/** Whether placeholders and lists of inputs name declared inputs, each with one place to go. */
export function checkHttp(http: HttpDocument, input: FieldMap, report: Report): void {
  const inPath = placeholdersOf(http.url)
  const written = [...http.url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const at = ['http', 'url']
  if (written.join() !== inPath.join())
    report(at, 'may hold placeholders in its path only; other inputs go to the query or body')
  else if (/[{}]/.test(http.url.replace(/\{\w+\}/g, '')))
    report(at, 'holds a "{" or "}" that is not a placeholder such as {orderId}')
  else if (/%[0-9a-f]?\{/i.test(http.url)) report(at, 'must not have a placeholder after "%"')
  for (const name of inPath) {
    const field = Object.hasOwn(input, name) ? input[name] : undefined
    const isSure = field && (field.required ?? true) && SCALARS.includes(field.type)
    if (!field) report(at, `holds {${name}}, which input does not declare`)
    else if (!isSure)
      report(at, `holds {${name}}, which must be a required input of type ${SCALARS.join(', ')}`)
  }
  for (const place of ['query', 'body'] as const) {
    http[place].forEach((name, index) => {
      const isElsewhere = inPath.includes(name) || (place === 'body' && http.query.includes(name))
      if (!Object.hasOwn(input, name))
        report(['http', place, index], `is "${name}", which input does not declare`)
      else if (isElsewhere) report(['http', place, index], `is "${name}", which already has another place`)
    })
  }
}
