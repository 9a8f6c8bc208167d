import { isJsonObject } from '../../lib/core/json/json.ts'
import type { TextStorage } from '../state/browser-storage.ts'
import { ownerKey, type TypedOwner, TypedValues } from '../state/typed-values.ts'
import { NO_OPTIONS, type RunOptions } from './run-options.ts'
import type { StorableText } from './strip-files.ts'

/** Whose input it is. `tenantId`: of the token, not of the run. */
export type InputOwner = TypedOwner & { agentId: string }

/** What was typed and not run from, until it is reset. */
type TypedInput = { text: string; options: RunOptions; hadFiles: boolean }

const MAX_IN_MEMORY = 20

/**
 * The inputs that were typed in this tab: in the memory of the page, with their files, and in `sessionStorage`, without
 * them, for when it is loaded again.
 */
export class TypedInputs {
  private readonly stored: TypedValues
  private readonly memory = new Map<string, TypedInput>()

  constructor(storage?: TextStorage | null, now?: () => number) {
    this.stored = new TypedValues(storage, now)
  }

  /** @param from the execution that it began with: each has an input of its own */
  read(owner: InputOwner, from: string | null): TypedInput | null {
    const key = toKey(owner, from)
    return this.memory.get(key) ?? parse(this.stored.read(key))
  }

  /** @param storable null if nothing of it may be stored */
  write(owner: InputOwner, from: string | null, typed: TypedInput, storable: StorableText | null): void {
    const key = toKey(owner, from)
    this.memory.delete(key)
    this.memory.set(key, typed)
    const [oldest] = this.memory.keys()
    if (this.memory.size > MAX_IN_MEMORY && oldest !== undefined) this.memory.delete(oldest)
    this.stored.write(key, storable && { ...typed, ...storable })
  }

  remove(owner: InputOwner, from: string | null): void {
    const key = toKey(owner, from)
    this.memory.delete(key)
    this.stored.write(key, null)
  }
}

const toKey = (owner: InputOwner, from: string | null) => ownerKey(owner, owner.agentId, from ?? '')

function parse(value: ReturnType<TypedValues['read']>): TypedInput | null {
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
