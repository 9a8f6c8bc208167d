import { ExactNumber } from '../../lib/core/json/exact-number.ts'
import { isMedia, parseDataUrl, sizeOfBase64 } from '../../lib/core/media.ts'
import { formatBytes, shorten, startOfGrapheme } from './format.ts'

/** How a part of a JSON value is shown. Containers show their entries on request, so that large values cost nothing. */
export type JsonNode =
  | { kind: 'string' | 'number' | 'literal' | 'file'; text: string }
  | { kind: 'object' | 'array'; size: number }

export function toNode(value: unknown): JsonNode {
  const file = describeFile(value)
  if (file) return { kind: 'file', text: file }
  if (typeof value === 'string') return { kind: 'string', text: value }
  if (typeof value === 'number') return { kind: 'number', text: String(value) }
  if (value instanceof ExactNumber) return { kind: 'number', text: value.text }
  if (Array.isArray(value)) return { kind: 'array', size: value.length }
  if (typeof value === 'object' && value !== null) return { kind: 'object', size: keysOf(value).length }
  return { kind: 'literal', text: String(value) }
}

/** The type and the size of a file or a data URL, whose base64 nobody reads; undefined for any other value. */
export function describeFile(value: unknown): string | undefined {
  if (typeof value === 'string') {
    const url = parseDataUrl(value)
    return url && `${url.mediaType}, ${formatBase64(url.data)}`
  }
  const isFile = typeof value === 'object' && value !== null && isMedia(value) && keysOf(value).length === 2
  return isFile ? `${value.mediaType}, ${formatBase64(value.data)}` : undefined
}

const formatBase64 = (data: string) => formatBytes(Math.max(sizeOfBase64(data), 0))

/** The entries of a container from the first on, at most `count`. */
export function entriesOf(value: unknown, count: number): [string, unknown][] {
  if (Array.isArray(value)) return value.slice(0, count).map((item, index) => [String(index), item])
  const fields = value as Record<string, unknown>
  return keysOf(fields)
    .slice(0, count)
    .map((name) => [name, fields[name]])
}

/** Listing the names of an object with very many fields takes long: it is done once. */
const keys = new WeakMap<object, string[]>()

function keysOf(value: object): string[] {
  const known = keys.get(value) ?? Object.keys(value)
  keys.set(value, known)
  return known
}

/** Characters that a closed container or a list of values shows. */
const PREVIEW_CHARACTERS = 80

/** The beginning of a container in one line: `{"a": 1, "b": […], …}`. Reads no more of it than it shows. */
export function preview(value: unknown): string {
  const parts: string[] = []
  let length = 0
  const isArray = Array.isArray(value)
  for (const [name, child] of entriesOf(value, 10)) {
    const part = isArray ? previewPart(child) : `${JSON.stringify(shorten(name, 30))}: ${previewPart(child)}`
    length += part.length + 2
    if (length > PREVIEW_CHARACTERS) break
    parts.push(part)
  }
  const node = toNode(value)
  const hasMore = 'size' in node && node.size > parts.length
  const text = [...parts, ...(hasMore ? ['…'] : [])].join(', ')
  return isArray ? `[${text}]` : `{${text}}`
}

function previewPart(value: unknown): string {
  const node = toNode(value)
  if ('size' in node) {
    const [open, close] = node.kind === 'object' ? '{}' : '[]'
    return `${open}${node.size === 0 ? '' : '…'}${close}`
  }
  return node.kind === 'string' ? JSON.stringify(shorten(node.text, 40)) : node.text
}

/** How many levels of a value to open at first: all that show at most `maxRows` rows, at least the first. */
export function initialDepth(value: unknown, maxRows: number): number {
  let level: unknown[] = [value]
  let rows = 1
  for (let depth = 0; depth < 6; depth += 1) {
    const containers = level.filter((item) => 'size' in toNode(item))
    if (containers.length === 0) return depth
    const children: unknown[] = []
    for (const container of containers) {
      for (const [, child] of entriesOf(container, maxRows + 1)) children.push(child)
      if (rows + children.length > maxRows) return Math.max(depth, 1)
    }
    rows += children.length
    level = children
  }
  return 6
}

/** Characters of JSON that are indented: for more, it takes too long. */
const MAX_INDENTED = 500_000

/** The value as JSON text, for people unless it is very long. */
export function printJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > MAX_INDENTED ? text : JSON.stringify(value, null, 2)
}

/** A text in portions of about `size` characters, at most `count` of them. What is seen as one stays together. */
export function portionsOf(text: string, size: number, count: number): string[] {
  const portions: string[] = []
  const boundary = (at: number) => (at < text.length ? startOfGrapheme(text, at) : text.length)
  for (let start = 0; start < text.length && portions.length < count; ) {
    let end = boundary(start + size)
    for (let at = start + size + 1; end <= start; at++) end = boundary(at)
    portions.push(text.slice(start, end))
    start = end
  }
  return portions
}
