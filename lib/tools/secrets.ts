import { isJsonObject, type Json } from '../core/json.ts'
import type { Environment } from '../environment.ts'
import { readSecret } from './read-secret.ts'
import { ToolError } from './tool.ts'

/** `${secret:NAME}` in a header value. */
export const SECRET_REFERENCE = /\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}/g

/** The base64 encoding of a shorter secret is too common a text to mask. */
const MIN_BASE64_LENGTH = 8

export type Secrets = {
  /**
   * Replaces secret references in header values.
   * @throws ToolError that names the missing secret
   */
  fillHeaders(headers: Record<string, string>): Promise<Record<string, string>>
  /** Replaces every secret read so far with `[secret NAME]`. */
  mask(value: Json): Json
  maskText(text: string): string
}

/** The secrets of one execution: read on first use, and masked in everything that is returned to the model. */
export function openSecrets(environment: Environment): Secrets {
  const names = new Map<string, string>()
  let pattern: RegExp | null = null

  async function read(name: string): Promise<string> {
    const value = (await readSecret(name, environment))?.trim()
    if (!value) throw new ToolError(`Secret ${name} not found.`)
    for (const form of encodedForms(value)) names.set(form, name)
    pattern = matchAny([...names.keys()])
    return value
  }

  async function fill(text: string): Promise<string> {
    const references = [...text.matchAll(SECRET_REFERENCE)].map(([, name]) => name ?? '')
    const values = new Map<string, string>()
    for (const name of references) values.set(name, await read(name))
    return text.replace(SECRET_REFERENCE, (_, name: string) => values.get(name) ?? '')
  }

  const maskText = (text: string): string =>
    pattern ? text.replace(pattern, (form) => `[secret ${names.get(form)}]`) : text

  function mask(value: Json): Json {
    if (typeof value === 'string') return maskText(value)
    if (typeof value === 'number') return names.has(String(value)) ? maskText(String(value)) : value
    if (Array.isArray(value)) return value.map(mask)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [maskText(key), mask(child)]))
  }

  return {
    maskText,
    mask: (value) => (pattern ? mask(value) : value),
    async fillHeaders(headers) {
      const entries = Object.entries(headers).map(async ([name, value]) => [
        name.toLowerCase(),
        await fill(value),
      ])
      return Object.fromEntries(await Promise.all(entries))
    },
  }
}

/** The forms in which a service may return a secret: literal, escaped in JSON or in a URL, or base64. */
function encodedForms(value: string): string[] {
  const forms = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]
  if (value.length < MIN_BASE64_LENGTH) return forms
  return [...forms, Buffer.from(value).toString('base64').replace(/=+$/, '')]
}

/** Longest alternative first, so that a secret that starts with another secret is masked completely. */
function matchAny(texts: string[]): RegExp {
  const longestFirst = texts.toSorted((a, b) => b.length - a.length)
  return new RegExp(longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g')
}
