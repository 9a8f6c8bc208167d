import { isJsonObject, type Json } from '../../lib/core/json/json.ts'
import { keysOf, openStorage, readText, type TextStorage, writeText } from '../state/browser-storage.ts'
import { NO_OPTIONS, type RunOptions } from './run-options.ts'
import type { StorableText } from './strip-files.ts'

/**
 * Whose input it is: nobody else sees it. `tenantId`: of the token, not of the run. `personId`: of whom the identity
 * provider has identified; API tokens of a tenant share their inputs.
 */
export type InputOwner = {
  organizationId: string
  tenantId: string | null
  personId?: string | null
  agentId: string
}

/** What was typed and not run from, until it is reset. */
type TypedInput = { text: string; options: RunOptions; hadFiles: boolean }

/** Characters of all typed inputs that a tab keeps. Beyond that, the oldest are forgotten. */
export const MAX_TYPED_CHARACTERS = 200_000
const MAX_IN_MEMORY = 20

export const ownerKey = ({ organizationId, tenantId, personId, agentId }: InputOwner): string =>
  [organizationId, tenantId === null ? '' : `t${tenantId}`, ...(personId ? [personId] : []), agentId]
    .map(encodeURIComponent)
    .join('/')

const PREFIX = 'agent-execution-service.typed/'

/**
 * The inputs that were typed in this tab: in the memory of the page, with their files, and in `sessionStorage`, without
 * them, for when it is loaded again.
 */
export class TypedInputs {
  private readonly storage: TextStorage | null
  private readonly now: () => number
  private readonly memory = new Map<string, TypedInput>()

  constructor(storage: TextStorage | null = openStorage('sessionStorage'), now: () => number = Date.now) {
    this.storage = storage
    this.now = now
  }

  /** @param from the execution that it began with: each has an input of its own */
  read(owner: InputOwner, from: string | null): TypedInput | null {
    const key = toKey(owner, from)
    return this.memory.get(key) ?? parse(readText(this.storage, key))
  }

  /** @param storable null if nothing of it may be stored */
  write(owner: InputOwner, from: string | null, typed: TypedInput, storable: StorableText | null): void {
    const key = toKey(owner, from)
    this.memory.delete(key)
    this.memory.set(key, typed)
    const [oldest] = this.memory.keys()
    if (this.memory.size > MAX_IN_MEMORY && oldest !== undefined) this.memory.delete(oldest)
    const stored = storable && JSON.stringify({ ...typed, ...storable, at: this.now() })
    writeText(this.storage, key, null)
    if (stored === null || stored.length > MAX_TYPED_CHARACTERS) return
    this.makeRoom(stored.length)
    writeText(this.storage, key, stored)
  }

  remove(owner: InputOwner, from: string | null): void {
    this.memory.delete(toKey(owner, from))
    writeText(this.storage, toKey(owner, from), null)
  }

  private makeRoom(needed: number): void {
    const kept = keysOf(this.storage, PREFIX)
      .map((key) => ({ key, text: readText(this.storage, key) ?? '' }))
      .map(({ key, text }) => ({ key, length: text.length, at: timeOf(text) }))
      .sort((a, b) => a.at - b.at)
    let total = kept.reduce((sum, { length }) => sum + length, needed)
    for (const { key, length } of kept) {
      if (total <= MAX_TYPED_CHARACTERS) return
      writeText(this.storage, key, null)
      total -= length
    }
  }
}

const toKey = (owner: InputOwner, from: string | null) =>
  `${PREFIX}${ownerKey(owner)}/${encodeURIComponent(from ?? '')}`

function parseObject(text: string | null): Record<string, Json> | null {
  try {
    const value: Json = JSON.parse(text ?? 'null')
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

const timeOf = (text: string): number => Number(parseObject(text)?.at) || 0

function parse(text: string | null): TypedInput | null {
  const value = parseObject(text)
  if (typeof value?.text !== 'string' || !isJsonObject(value.options)) return null
  const given = Object.entries(value.options).filter(
    ([name, option]) => typeof option === typeof NO_OPTIONS[name as keyof RunOptions],
  )
  return {
    text: value.text,
    options: { ...NO_OPTIONS, ...(Object.fromEntries(given) as Partial<RunOptions>) },
    hadFiles: value.hadFiles === true,
  }
}
