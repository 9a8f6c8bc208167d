import { isJsonObject, type Json } from '../core/json.ts'
import { type Environment, SECRETS_PREFIX } from '../environment.ts'
import { ParameterReadError, readManagedSecret, readParameter } from '../parameter-store.ts'
import { ToolError } from './tool.ts'

/** `${secret:NAME}` in a header value. */
export const SECRET_REFERENCE = /\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}/g

const DEFAULT_PREFIX = '/aes/secrets'

/** The base64 encoding of a shorter secret is too common a text to mask. */
const MIN_BASE64_LENGTH = 8

export type Secrets = {
  /**
   * Replaces secret references in header values.
   * @throws ToolError that names the missing secret
   */
  fillHeaders(headers: Record<string, string>): Promise<Record<string, string>>
  /** The value of a secret, or null if it does not exist. @throws ToolError if it cannot be read */
  find(name: string): Promise<string | null>
  /** Replaces every secret read so far with `[secret NAME]`. */
  mask(value: Json): Json
  maskText(text: string): string
}

/** The secrets of one execution: read on first use, and masked in everything that is returned to the model. */
export function openSecrets(environment: Environment): Secrets {
  const names = new Map<string, string>()
  let pattern: RegExp | null = null

  async function find(name: string): Promise<string | null> {
    const value = (await readSecret(name, environment))?.trim()
    if (!value) return null
    for (const form of encodedForms(value)) names.set(form, name)
    pattern = matchAny([...names.keys()])
    return value
  }

  async function read(name: string): Promise<string> {
    const value = await find(name)
    if (value === null) throw new ToolError(`Secret ${name} not found.`)
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
    find,
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

/**
 * Reads a secret; null if it does not exist. On AWS (where `SECRETS_PREFIX` is set or a Lambda function runs), the name
 * `<prefix>/NAME` is looked up in SSM Parameter Store, then in Secrets Manager. The environment of a function is never
 * read, because it contains the credentials of its role. Elsewhere, reads the environment variable NAME.
 * @throws ToolError if the secret cannot be read
 */
async function readSecret(name: string, environment: Environment): Promise<string | null> {
  const prefix = environment[SECRETS_PREFIX]
  if (!prefix && !environment.AWS_LAMBDA_FUNCTION_NAME) return environment[name] || null
  const path = `${(prefix || DEFAULT_PREFIX).replace(/\/+$/, '')}/${name}`
  try {
    return (await readParameter(path)) ?? (await readManagedSecret(path))
  } catch (error) {
    if (!(error instanceof ParameterReadError)) throw error
    throw new ToolError(`Could not read the secret ${name} (${error.reason}).`, {
      isTransient: true,
      cause: error,
    })
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
