import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MaskedStream, SecretMask } from '../../lib/tools/secret-mask.ts'

const SECRET = 'p4ss/W+ord ü"~7?'
const MARK = '[secret KEY]'

function maskOf(...values: string[]): SecretMask {
  const mask = new SecretMask()
  for (const value of values) mask.add('KEY', value)
  return mask
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const base64url = (text: string) => Buffer.from(text).toString('base64url')
const hex = (text: string) => Buffer.from(text).toString('hex')

/** Secrets of at least 8 characters, and texts around them that share no character with the marks. */
const secrets = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 40 }).map((text) => `k${text.trim()}k`)
const others = fc.string({ unit: fc.constantFrom(...'0123456789:=\n '), maxLength: 20 })

describe('SecretMask', () => {
  it.each([
    ['literal', SECRET],
    ['JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['URL', encodeURIComponent(SECRET)],
    ['form', new URLSearchParams({ a: SECRET }).toString().slice(2).replace('%7E', '~')],
    ['base64', base64(SECRET).replace(/=+$/, '')],
    ['base64url', base64url(SECRET)],
    ['base64 in a URL', encodeURIComponent(base64(SECRET).replace(/=+$/, ''))],
    ['lower-case URL', encodeURIComponent(SECRET).replace(/%../g, (byte) => byte.toLowerCase())],
    ['URL of all bytes', hex(SECRET).replace(/../g, '%$&')],
    ['JSON with escaped slashes', JSON.stringify(SECRET).slice(1, -1).replace('/', '\\/')],
    ['JSON in ASCII', JSON.stringify(SECRET).slice(1, -1).replace('ü', '\\u00fc')],
    ['JSON in ASCII, in upper case', JSON.stringify(SECRET).slice(1, -1).replace('ü', '\\u00FC')],
    [
      'JSON of all characters',
      [...SECRET].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
    ],
    ['HTML', SECRET.replace('"', '&quot;').replace('ü', '&#252;').replace('?', '&#x3F;')],
    ['mixed', SECRET.replace('/', '%2f').replace('"', '&#34;').replace('ü', '\\u00fc')],
    ['hexadecimal', hex(SECRET)],
    ['upper-case hexadecimal', hex(SECRET).toUpperCase()],
  ])('recognizes the %s form', (_, form) => {
    expect(maskOf(SECRET).apply(`(${form}) (${form})`)).toBe(`(${MARK}) (${MARK})`)
  })

  it.each(['user', 'u', 'me', 'a-much-longer-name'])(
    'recognizes the secret in the header of basic authentication of %s',
    (user) => {
      const masked = maskOf(SECRET).apply(`Authorization: Basic ${base64(`${user}:${SECRET}`)}`)
      expect(masked).toContain(MARK)
      const rest = masked.replace(MARK, '').replace('Authorization: Basic ', '')
      expect(Buffer.from(rest, 'base64').toString('latin1')).not.toMatch(/ss|ord/)
      expect(rest.length).toBeLessThanOrEqual(base64(`${user}:`).length + 4)
    },
  )

  it('recognizes a secret in the encoding of any text', () => {
    fc.assert(
      fc.property(secrets, others, others, (secret, before, after) => {
        const text = before + secret + after
        const mask = maskOf(secret)
        for (const encode of [base64, base64url, hex]) {
          const masked = mask.apply(encode(text))
          expect(masked.split(MARK)).toHaveLength(2)
          // What remains encodes the rest of the text, and at most the bits that share a character with it.
          const [left = '', right = ''] = masked.split(MARK)
          const perByte = encode === hex ? 2 : 4 / 3
          expect(left.length).toBeLessThanOrEqual(Math.ceil(Buffer.byteLength(before) * perByte))
          expect(right.length).toBeLessThanOrEqual(Math.ceil(Buffer.byteLength(after) * perByte) + 3)
        }
      }),
    )
  })

  it('keeps the escapes of the text around a secret', () => {
    const text = `100%25 &amp; \\u00e9%zz %F0%9F%98%8A ${SECRET.replace('/', '\\/')} %E9 &#9999999; \\"`
    expect(maskOf(SECRET).apply(text)).toBe(`100%25 &amp; \\u00e9%zz %F0%9F%98%8A ${MARK} %E9 &#9999999; \\"`)
    expect(maskOf('😊 "key"').apply('a=%F0%9F%98%8A+%22key%22&b')).toBe(`a=${MARK}&b`)
  })

  it('masks the longer one of two secrets with the same beginning', () => {
    expect(maskOf('tiger', 'tiger-lily').apply('tiger-lily tiger')).toBe(`${MARK} ${MARK}`)
  })

  it('leaves other texts as they are', () => {
    fc.assert(
      fc.property(others, (text) => {
        expect(maskOf(SECRET).apply(text, { start: true, end: true })).toBe(text)
      }),
    )
    expect(new SecretMask().apply('anything', { start: true, end: true })).toBe('anything')
  })

  it('leaves fewer than four characters of a secret at the ends of a text that was cut', () => {
    // Its last character in base64 belongs to it alone.
    const secret = `${SECRET}!`
    for (const form of [secret, encodeURIComponent(secret), base64(secret), hex(secret)]) {
      for (let at = 1; at < form.length; at++) {
        const [left, right] = [form.slice(0, at), form.slice(at)]
        const end = maskOf(secret).apply(`: ${left}`, { end: true })
        expect(end).toBe(left.length < 4 ? `: ${left}` : `: ${MARK}`)
        const start = maskOf(secret).apply(`${right} :`, { start: true })
        expect(start).toBe(right.length < 4 ? `${right} :` : `${MARK} :`)
      }
    }
  })
})

describe('MaskedStream', () => {
  const forms = [
    (secret: string) => secret,
    (secret: string) => base64(`user:${secret}`),
    hex,
    encodeURIComponent,
  ]
  const pushAll = (mask: SecretMask, parts: string[]) => {
    const stream = new MaskedStream(mask)
    return parts.map((part) => stream.push(part)).join('') + stream.end()
  }
  const split = (text: string, sizes: number[]): string[] => {
    let rest = text
    const parts = sizes.map((size) => {
      const part = rest.slice(0, size)
      rest = rest.slice(size)
      return part
    })
    return [...parts, rest]
  }

  it('recognizes secrets however the text is split', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 })
    const manyTexts = fc.array(others, { minLength: 1, maxLength: 4 })
    const property = fc.property(
      secrets,
      manyTexts,
      fc.constantFrom(...forms),
      sizes,
      (secret, texts, write, cuts) => {
        const masked = pushAll(maskOf(secret), split(texts.join(`|${write(secret)}|`), cuts))
        expect(masked.split(MARK)).toHaveLength(texts.length)
        expect(masked).not.toContain(secret)
      },
    )
    fc.assert(property)
  })

  it('passes on other texts, at once', () => {
    const stream = new MaskedStream(maskOf(SECRET))
    expect(stream.push('first line\n')).toBe('first line\n')
    expect(stream.push('p4')).toBe('')
    expect(stream.push('tience\n')).toBe('p4tience\n')
    expect(stream.push('p4')).toBe('')
    expect(stream.end()).toBe('p4')
  })

  it('waits for the longer one of two secrets with the same beginning', () => {
    expect(pushAll(maskOf('tiger', 'tiger-lily'), ['a tiger', '-li', 'ly'])).toBe(`a ${MARK}`)
    expect(pushAll(maskOf('tiger', 'tiger-lily'), ['a tiger', ' and'])).toBe(`a ${MARK} and`)
  })

  it('masks the part of a secret on either side of a text that is missing, or at the end', () => {
    const stream = new MaskedStream(maskOf(SECRET))
    expect(stream.push(`before ${SECRET.slice(0, 9)}`)).toBe('before ')
    expect(stream.push(`${SECRET.slice(5)} after ${SECRET.slice(0, 9)}`, true)).toBe(`${MARK} after `)
    expect(stream.end()).toBe(MARK)
  })
})
