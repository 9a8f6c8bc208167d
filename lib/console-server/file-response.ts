import { Readable } from 'node:stream'
import { getHeader, type HttpResponse, isStreaming, type ServiceEvent } from '../http/event.ts'
import { chooseEncoding } from '../http/negotiation.ts'
import { type ConsoleFile, ENCODINGS, type Encoding } from './console-files.ts'

/**
 * The console loads nothing from other hosts, and no script or style that is not a file of its own. A text that was
 * inserted into the page as markup by mistake could therefore not run.
 */
const toContentSecurityPolicy = ({ connectsTo = [] }: ConsoleFile) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["connect-src 'self'", ...connectsTo].join(' '),
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

const ONE_YEAR_SECONDS = 31_536_000

/** Responds with the file, or with 304 if the client has it. */
export function toFileResponse(file: ConsoleFile, event: ServiceEvent): HttpResponse {
  const { type, etag, isImmutable } = file
  const encoding = encodingFor(event)
  const headers = {
    'Content-Security-Policy': toContentSecurityPolicy(file),
    ...SECURITY_HEADERS,
    'Cache-Control': isImmutable ? `public, max-age=${ONE_YEAR_SECONDS}, immutable` : 'no-cache',
    ETag: etag,
    Vary: 'Accept-Encoding',
  }
  if (hasEtag(getHeader(event, 'If-None-Match'), etag)) return { status: 304, headers }
  const bytes = encoding ? file.compressed[encoding] : file.content
  return {
    status: 200,
    stream: isStreaming() ? Readable.from([bytes]) : bytes.toString(),
    headers: { ...headers, 'Content-Type': type, ...(encoding && { 'Content-Encoding': encoding }) },
  }
}

/**
 * The best compressed form that the client accepts; none where responses are buffered, because API Gateway would need
 * them as base64 and treat the bodies of all operations alike. It then compresses responses itself.
 */
function encodingFor(event: ServiceEvent): Encoding | undefined {
  if (!isStreaming()) return undefined
  return chooseEncoding(getHeader(event, 'Accept-Encoding'), ENCODINGS)
}

const toOpaque = (etag: string) => etag.trim().replace(/^W\//, '')

/** RFC 9110, section 13.1.2: a list of tags or `*`, compared weakly. */
const hasEtag = (header = '', etag: string) =>
  header.split(',').some((given) => given.trim() === '*' || toOpaque(given) === toOpaque(etag))
