import { isJsonObject, type Json } from '../core/json.ts'
import type { Environment } from '../environment.ts'
import { readSecret } from './secret-source.ts'
import { ToolError } from './tool.ts'

/** `${secret:NAME}`, in the value of a header. */
export const SECRET_REFERENCE = /\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}/g

/** Below this length the base64 of a secret is too common a text to be masked. */
const MIN_ENCODED_LENGTH = 8

export type Secrets = {
  /**
   * Header values with their secrets filled in.
   * @throws ToolError that names the secret that is missing
   */
  fillHeaders(headers: Record<string, string>): Promise<Record<string, string>>
  /** The value with every secret read so far replaced by `[secret NAME]`. */
  mask(value: Json): Json
  maskText(text: string): string
}

/** The secrets of one run: read when first used, and known since, so that none of them comes back to the model. */
export function openSecrets(environment: Environment): Secrets {
  const names = new Map<string, string>()
  let pattern: RegExp | null = null

  async function read(name: string): Promise<string> {
    const value = (await readSecret(name, environment))?.trim()
    if (!value) throw new ToolError(`The secret ${name} is missing.`)
    for (const form of formsOf(value)) names.set(form, name)
    pattern = anyOf([...names.keys()])
    return value
  }

  async function fill(text: string): Promise<string> {
    const found = [...text.matchAll(SECRET_REFERENCE)].map(([, name]) => name ?? '')
    const values = new Map<string, string>()
    for (const name of found) values.set(name, await read(name))
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

/** A secret as a service may repeat it: as it is, within JSON or a URL, or in base64. */
function formsOf(value: string): string[] {
  const forms = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]
  if (value.length < MIN_ENCODED_LENGTH) return forms
  return [...forms, Buffer.from(value).toString('base64').replace(/=+$/, '')]
}

/** The longest first, so that a secret that begins with another one is masked whole. */
function anyOf(texts: string[]): RegExp {
  const longestFirst = texts.toSorted((a, b) => b.length - a.length)
  return new RegExp(longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g')
}
