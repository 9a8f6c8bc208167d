import { isJsonObject, tryParseJson } from '../../lib/core/json/json.ts'
import { truncate } from '../../lib/schema/message-text.ts'
import { openStorage, readText, type TextStorage, writeText } from '../state/browser-storage.ts'
import { ownerKey } from '../state/typed-values.ts'
import type { InputOwner } from './typed-inputs.ts'

export type SavedInput = { name: string; text: string }

export const MAX_SAVED = 50
export const MAX_NAME = 80
/** Characters of one input, and of all of an agent. */
const MAX_TEXT = 100_000
const MAX_TOTAL = 500_000

const SAVED_PREFIX = 'agent-execution-service.inputs/'

/** Why an input is not saved: a sentence for people. Null if it is. */
type Refusal = string | null

/** The named inputs of an agent, in this browser. Each call reads what other tabs have changed. */
export class SavedInputs {
  readonly key: string
  private readonly storage: TextStorage | null

  constructor(owner: InputOwner, storage: TextStorage | null = openStorage('localStorage')) {
    this.key = SAVED_PREFIX + ownerKey(owner, owner.agentId)
    this.storage = storage
  }

  /** By name. What someone else has written there is left out. */
  list(): SavedInput[] {
    const values = tryParseJson(readText(this.storage, this.key) ?? '')
    const inputs = (Array.isArray(values) ? values : []).flatMap((value: unknown): SavedInput[] =>
      isJsonObject(value) && typeof value.name === 'string' && typeof value.text === 'string'
        ? [{ name: value.name, text: value.text }]
        : [],
    )
    return inputs.sort((a, b) => a.name.localeCompare(b.name))
  }

  save({ name, text }: SavedInput): Refusal {
    const others = this.list().filter((each) => each.name !== name)
    if (text.length > MAX_TEXT) return 'The input is too large to save: it has more than 100,000 characters.'
    if (others.length >= MAX_SAVED) return `There are ${MAX_SAVED} saved inputs already: delete one first.`
    return this.write([...others, { name, text }])
  }

  rename(name: string, next: string): Refusal {
    const inputs = this.list()
    if (next !== name && inputs.some((each) => each.name === next))
      return 'Another saved input has this name: choose a different one.'
    return this.write(inputs.map((each) => (each.name === name ? { ...each, name: next } : each)))
  }

  delete(name: string): Refusal {
    return this.write(this.list().filter((each) => each.name !== name))
  }

  private write(inputs: SavedInput[]): Refusal {
    const text = inputs.length === 0 ? null : JSON.stringify(inputs)
    if (text !== null && text.length > MAX_TOTAL)
      return 'The saved inputs of this agent take more than 500,000 characters: delete some first.'
    const isWritten = writeText(this.storage, this.key, text)
    return isWritten ? null : 'The browser does not allow it, or has no room.'
  }
}

/** One line without control characters, as it is saved; empty if nothing is left. */
export const toInputName = (typed: string): string =>
  truncate(
    typed
      .toWellFormed()
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
      .trim(),
    MAX_NAME,
  )
