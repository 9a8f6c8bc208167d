import { isNumber } from '../core/json/exact-number.ts'
import { isJsonObject, type Json } from '../core/json/json.ts'
import type { Environment } from '../environment.ts'
import { ParameterReadError } from '../parameter-store.ts'
import { getSecretNames, readSecret, SECRET_REFERENCE } from '../secret-store.ts'
import { type Cut, SecretMask } from './secret-mask.ts'
import { ToolError } from './tool.ts'

export type Secrets = {
  /**
   * Replaces secret references in header values.
   * @throws ToolError that names the missing secret
   */
  fillHeaders(headers: Record<string, string>): Promise<Record<string, string>>
  /** The same for any text. */
  fill(text: string): Promise<string>
  /** The value of a secret, or null if it does not exist. @throws ToolError if it cannot be read */
  find(name: string): Promise<string | null>
  /** Replaces every secret read so far with `[secret NAME]`. */
  mask(value: Json): Json
  maskText(text: string, cut?: Cut): string
  /** The secrets read so far, to mask a text that arrives in parts. */
  texts: SecretMask
}

/** The secrets of one execution: read on first use, and masked in everything that is returned to the model. */
export function openSecrets(environment: Environment): Secrets {
  const texts = new SecretMask()
  const values = new Set<string>()

  async function find(name: string): Promise<string | null> {
    const value = await readSecret(name, environment).catch((error: unknown) => {
      if (!(error instanceof ParameterReadError)) throw error
      const message = `Could not read the secret ${name} (${error.reason}).`
      throw new ToolError(message, { isTransient: true, cause: error })
    })
    if (!value) return null
    if (!values.has(value)) texts.add(name, value)
    values.add(value)
    return value
  }

  async function read(name: string): Promise<string> {
    const value = await find(name)
    if (value === null) throw new ToolError(`Secret ${name} not found.`)
    return value
  }

  async function fill(text: string): Promise<string> {
    const values = new Map<string, string>()
    for (const name of getSecretNames(text)) values.set(name, await read(name))
    return text.replace(SECRET_REFERENCE, (_, name: string) => values.get(name) ?? '')
  }

  const maskText = (text: string, cut?: Cut): string => texts.apply(text, cut)

  function mask(value: Json): Json {
    if (typeof value === 'string') return maskText(value)
    if (isNumber(value)) return values.has(String(value)) ? maskText(String(value)) : value
    if (Array.isArray(value)) return value.map(mask)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [maskText(key), mask(child)]))
  }

  return {
    find,
    fill,
    maskText,
    texts,
    mask: (value) => (values.size > 0 ? mask(value) : value),
    async fillHeaders(headers) {
      const entries = Object.entries(headers).map(async ([name, value]) => [
        name.toLowerCase(),
        await fill(value),
      ])
      return Object.fromEntries(await Promise.all(entries))
    },
  }
}
