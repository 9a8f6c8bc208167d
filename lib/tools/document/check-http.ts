import type { FieldMap } from '../../schema/field-map.ts'
import { SECRET_REFERENCE } from '../../secret-store.ts'
import { findEndpointProblem } from '../egress/egress-policy.ts'
import { getPlaceholders } from '../kinds/url-template.ts'
import type { HttpDocument } from './tool-fields.ts'

/** Reports a problem. The message continues a sentence that starts with the field's name. */
export type Report = (path: PropertyKey[], message: string) => void

export const SECRET_NOT_ALLOWED = 'must not contain a secret: secrets are only allowed in header values'

const SCALARS = ['string', 'number', 'integer', 'boolean']
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
/** Connection headers, and those that the service sets for each request. */
const RESERVED_HEADERS = [
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

export function checkHeaders(headers: Record<string, string>, path: PropertyKey[], report: Report): void {
  for (const [name, value] of Object.entries(headers)) {
    const header = [...path, name]
    if (!HEADER_NAME.test(name)) report(header, 'is not a valid header name')
    if (RESERVED_HEADERS.includes(name.toLowerCase())) report(header, 'is reserved: the service sets it')
    if (!HEADER_VALUE.test(value)) report(header, 'must contain only printable ASCII characters')
    if (value.replace(SECRET_REFERENCE, '').includes('${')) {
      report(header, `contains a "\${" that is not a secret reference such as \${secret:SHOP_KEY}`)
    }
  }
}

/** Reports an invalid URL, or one that the egress policy denies. */
export function checkUrl(
  endpoint: { url: string; allowedHosts: string[] },
  path: PropertyKey[],
  report: Report,
): boolean {
  const { url, allowedHosts } = endpoint
  const problem = url.includes('${secret:') ? SECRET_NOT_ALLOWED : findEndpointProblem(url, allowedHosts)
  if (problem) report(path, problem)
  return problem === null
}

/** Reports placeholders, `query` and `body` entries that are not declared inputs, or that are listed twice. */
export function checkInputReferences(http: HttpDocument, input: FieldMap, report: Report): void {
  const inPath = getPlaceholders(http.url)
  const inUrl = [...http.url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const url = ['http', 'url']
  if (inUrl.join() !== inPath.join())
    report(url, 'can contain placeholders only in the path; send other inputs in the query or body')
  else if (/[{}]/.test(http.url.replace(/\{\w+\}/g, '')))
    report(url, 'contains a "{" or "}" that is not part of a placeholder such as {orderId}')
  else if (/%[0-9a-f]?\{/i.test(http.url)) report(url, 'must not contain a placeholder after "%"')
  for (const name of inPath) {
    const field = Object.hasOwn(input, name) ? input[name] : undefined
    const isRequiredScalar = field && (field.required ?? true) && SCALARS.includes(field.type)
    if (!field) report(url, `contains {${name}}, which is not declared in input`)
    else if (!isRequiredScalar)
      report(url, `contains {${name}}, which must be a required input of type ${SCALARS.join(', ')}`)
  }
  for (const list of ['query', 'body'] as const) {
    http[list].forEach((name, index) => {
      const isDuplicate = inPath.includes(name) || (list === 'body' && http.query.includes(name))
      if (!Object.hasOwn(input, name)) report(['http', list, index], `"${name}" is not declared in input`)
      else if (isDuplicate) report(['http', list, index], `"${name}" is already sent in the path or query`)
    })
  }
}
