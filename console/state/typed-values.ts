import { isJsonObject, type JsonObject, tryParseJson } from '../../lib/core/json/json.ts'
import { keysOf, openStorage, readText, type TextStorage, writeText } from './browser-storage.ts'

/** Whose values they are: nobody else sees them. API tokens of a tenant share theirs. */
export type TypedOwner = { organizationId: string; tenantId: string | null; personId?: string | null }

/** Characters of all typed values that a tab keeps. Beyond that, the oldest are forgotten. */
export const MAX_TYPED_CHARACTERS = 200_000

const PREFIX = 'agent-execution-service.typed/'
/** Forms other than Try it. */
const FORM_PREFIX = `${PREFIX}forms/`

/** @param parts what the values belong to, such as an agent */
export const ownerKey = ({ organizationId, tenantId, personId }: TypedOwner, ...parts: string[]): string =>
  [organizationId, tenantId === null ? '' : `t${tenantId}`, ...(personId ? [personId] : []), ...parts]
    .map(encodeURIComponent)
    .join('/')

export const formKey = (owner: TypedOwner, name: string): string => `forms/${ownerKey(owner, name)}`

/** What was typed in this tab and not sent: in `sessionStorage`, for when the page is loaded again. */
export class TypedValues {
  private readonly storage: TextStorage | null
  private readonly now: () => number

  constructor(storage: TextStorage | null = openStorage('sessionStorage'), now: () => number = Date.now) {
    this.storage = storage
    this.now = now
  }

  read(key: string): JsonObject | null {
    return parseObject(readText(this.storage, PREFIX + key))
  }

  /** @param value null: nothing is kept */
  write(key: string, value: object | null): void {
    writeText(this.storage, PREFIX + key, null)
    const text = value && JSON.stringify({ ...value, at: this.now() })
    if (text === null || text.length > MAX_TYPED_CHARACTERS) return
    this.makeRoom(text.length)
    writeText(this.storage, PREFIX + key, text)
  }

  /** Forgets what was typed into forms. Try it keeps its inputs for another token of the same owner. */
  forgetForms(): void {
    for (const key of keysOf(this.storage, FORM_PREFIX)) writeText(this.storage, key, null)
  }

  private makeRoom(needed: number): void {
    const kept = keysOf(this.storage, PREFIX)
      .map((key) => ({ key, text: readText(this.storage, key) ?? '' }))
      .map(({ key, text }) => ({ key, length: text.length, at: Number(parseObject(text)?.at) || 0 }))
      .sort((a, b) => a.at - b.at)
    let total = kept.reduce((sum, { length }) => sum + length, needed)
    for (const { key, length } of kept) {
      if (total <= MAX_TYPED_CHARACTERS) return
      writeText(this.storage, key, null)
      total -= length
    }
  }
}

function parseObject(text: string | null): JsonObject | null {
  const value = tryParseJson(text ?? '')
  return isJsonObject(value) ? value : null
}
