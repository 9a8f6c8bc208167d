import { decodeEscapes, HAS_ESCAPE } from './decode-escapes.ts'

/** The ends at which a text was cut, possibly in the middle of a secret. */
export type Cut = { start?: boolean; end?: boolean }

/** A text in which a secret may appear. `isPart`: further characters around it may contain bits of the secret. */
type Form = { text: string; name: string; isPart: boolean }

/** Shorter encodings are too common as texts to be masked. */
const MIN_ENCODED_LENGTH = 8
/** Shorter parts of a secret may remain where a text was cut. */
const MIN_PART = 4
const BASE64_CHARACTER = '[A-Za-z0-9+/_-]'

/** Replaces secrets in texts, in every form of `formsOf`, by `[secret NAME]`. */
export class SecretMask {
  private forms: Form[] = []
  private values: { text: string; name: string }[] = []
  private pattern: RegExp | null = null

  add(name: string, value: string): void {
    this.values = byLength([...this.values, { text: value, name }])
    const added = formsOf(value).map((form) => ({ ...form, name }))
    const known = new Set(this.forms.map(({ text }) => text))
    const forms = [...this.forms, ...added.filter(({ text }) => !known.has(text))]
    // Longest first, so that a secret that starts with another one is masked completely.
    this.forms = byLength(forms)
    this.pattern = new RegExp(this.forms.map(toPattern).join('|'), 'g')
  }

  apply(text: string, cut: Cut = {}): string {
    const matches = this.find(text)
    const head = text.slice(0, matches[0]?.start)
    const tail = text.slice(matches.at(-1)?.end ?? 0)
    const first = cut.start ? this.findPart(head, (form, size) => head.startsWith(form.slice(-size))) : null
    const last = cut.end ? this.findPart(tail, (form, size) => tail.endsWith(form.slice(0, size))) : null
    const found = [
      ...(first && first.size >= MIN_PART ? [{ start: 0, end: first.size, name: first.name }] : []),
      ...matches,
      ...(last && last.size >= MIN_PART
        ? [{ start: text.length - last.size, end: text.length, name: last.name }]
        : []),
    ]
    let [masked, position] = ['', 0]
    for (const { start, end, name } of found) {
      masked += `${text.slice(position, start)}[secret ${name}]`
      position = Math.max(position, end)
    }
    return masked + text.slice(position)
  }

  /** The start of the end of a text that a following text may complete to a secret. */
  findOpenEnd(text: string): number {
    const part = this.findPart(text, (form, size) => text.endsWith(form.slice(0, size)))
    const start = text.length - (part?.size ?? 0)
    // A longer secret may start with the one that was found.
    const straddling = this.find(text).find((match) => match.start < start && match.end > start)
    return straddling?.start ?? start
  }

  private find(text: string): { start: number; end: number; name: string }[] {
    if (!this.pattern) return []
    const matches = [...text.matchAll(this.pattern)].map((match) => {
      const form = this.forms[match.slice(1).findIndex((group) => group !== undefined)]
      return { start: match.index, end: match.index + match[0].length, name: form?.name ?? '' }
    })
    if (!HAS_ESCAPE.test(text)) return matches
    const others = this.findDecoded(text).filter(({ start, end }) =>
      matches.every((match) => end <= match.start || start >= match.end),
    )
    return [...matches, ...others].sort((a, b) => a.start - b.start)
  }

  /** Secrets in the decoded text, at their places in the text itself. None overlaps another one. */
  private findDecoded(text: string): { start: number; end: number; name: string }[] {
    const { decoded, places } = decodeEscapes(text)
    const found: { start: number; end: number; name: string }[] = []
    for (const { text: value, name } of this.values)
      for (const needle of new Set([value, value.replaceAll(' ', '+')]))
        for (let at = decoded.indexOf(needle); at >= 0; at = decoded.indexOf(needle, at + needle.length)) {
          const [start = 0, end = text.length] = [places[at], places[at + needle.length]]
          if (found.every((each) => end <= each.start || start >= each.end)) found.push({ start, end, name })
        }
    return found
  }

  /** The longest part of a form, less than all of it, for which the test holds. */
  private findPart({ length }: string, isAtCut: (form: string, size: number) => boolean) {
    let longest: { size: number; name: string } | null = null
    for (const { text, name } of this.forms) {
      let size = Math.min(text.length - 1, length)
      while (size > (longest?.size ?? 0) && !isAtCut(text, size)) size--
      if (size > (longest?.size ?? 0)) longest = { size, name }
    }
    return longest
  }
}

/** Masks a text that arrives in parts: a secret may be split over two of them. */
export class MaskedStream {
  private held = ''
  private isCut = false
  private readonly mask: SecretMask

  constructor(mask: SecretMask) {
    this.mask = mask
  }

  /** @param isCut whether text between the last part and this one is missing */
  push(part: string, isCut = false): string {
    if (isCut) this.held = ''
    this.isCut ||= isCut
    const text = this.held + part
    const end = this.mask.findOpenEnd(text)
    this.held = text.slice(end)
    const cut = { start: this.isCut }
    if (end > 0) this.isCut = false
    return this.mask.apply(text.slice(0, end), cut)
  }

  /** What was held back. */
  end(): string {
    const text = this.mask.apply(this.held, { start: this.isCut, end: true })
    this.held = ''
    return text
  }
}

const byLength = <T extends { text: string }>(list: T[]): T[] =>
  list.toSorted((a, b) => b.text.length - a.text.length)

/**
 * The forms in which a program may show a secret: literal, escaped in JSON or a URL, in hexadecimal digits, and in
 * base64, alone or as a part of something longer, such as `user:secret` of HTTP's basic authentication.
 */
function formsOf(value: string): Omit<Form, 'name'>[] {
  const bytes = Buffer.from(value)
  const hex = bytes.toString('hex')
  const encoded = [hex, hex.toUpperCase()].map((text) => ({ text, isPart: false }))
  for (const before of [0, 1, 2]) {
    const text = base64Within(bytes, before)
    for (const form of new Set([text, toBase64Url(text), encodeURIComponent(text)]))
      encoded.push({ text: form, isPart: true })
  }
  const url = encodeURIComponent(value.toWellFormed())
  const json = JSON.stringify(value).slice(1, -1)
  const urls = [url, url.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase())]
  const literal = [
    ...[
      value,
      json,
      json.replaceAll('/', '\\/'),
      ...urls,
      ...urls.map((each) => each.replaceAll('%20', '+')),
    ],
    json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ]
  return [
    ...[...new Set(literal)].map((text) => ({ text, isPart: false })),
    ...encoded.filter(({ text }) => text.length >= MIN_ENCODED_LENGTH),
  ]
}

/**
 * The characters of the base64 encoding of a longer text that these bytes alone determine: six bits each, of three
 * bytes four characters (RFC 4648, section 4).
 * @param before how many bytes precede them, modulo three
 */
function base64Within(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
}

const toBase64Url = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_')

function toPattern({ text, isPart }: Form): string {
  const escaped = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return isPart ? `(${BASE64_CHARACTER}?${escaped}${BASE64_CHARACTER}?)` : `(${escaped})`
}
