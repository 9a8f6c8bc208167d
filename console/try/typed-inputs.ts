import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isJsonObject, type JsonObject } from '../../lib/core/json/json.ts'
import { listen } from '../api/attention.ts'
import type { TextStorage } from '../state/browser-storage.ts'
import { ownerKey, type TypedOwner, TypedValues } from '../state/typed-values.ts'
import { NO_OPTIONS, type RunOptions } from './run-options.ts'
import { type StorableText, stripFiles } from './strip-files.ts'

/** Whose input it is. `tenantId`: of the token, not of the run. */
export type InputOwner = TypedOwner & { agentId: string }

/** What was typed and not run from, until it is reset. */
type TypedInput = { text: string; options: RunOptions; hadFiles: boolean }

const MAX_IN_MEMORY = 20

/** Keeps what was typed in this tab, without files also in `sessionStorage`, for when the page loads again. */
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

export type Typed = { text: string; options: RunOptions }

/** What has replaced the input, and what it replaced. */
type Notice = { message: string; previous: Typed | null }

type Params = {
  /** Null if it is not known: then nothing is kept. */
  owner: InputOwner | null
  /** The execution that the form begins with. */
  from: string | null
  initial: Typed
  /** Adapts what was typed before to what exists now. */
  restore: (typed: Typed) => Typed
  schemaOf: (options: RunOptions) => JsonObject
}

/** Outlives the page and the token: each owner has inputs of its own. */
const typedInputs = new TypedInputs()

/** Storing is not free: not at each key. */
const PAUSE_MS = 300

/** Keeps typed values for when the page is opened again in this tab: by Back, a reload or another token. */
export function useTypedInput({ owner, from, initial, restore, schemaOf }: Params) {
  const kept = useMemo(() => (owner ? typedInputs.read(owner, from) : null), [])
  const [typed, setTyped] = useState<Typed>(() =>
    kept ? restore({ text: kept.text, options: kept.options }) : initial,
  )
  const [notice, setNotice] = useState<Notice | null>(() =>
    kept ? { message: kept.hadFiles ? RESTORED_WITHOUT_FILES : RESTORED, previous: null } : null,
  )
  const latest = useRef(typed)
  latest.current = typed

  function save() {
    if (!owner) return
    const { text, options } = latest.current
    if (isSame(latest.current, initial)) typedInputs.remove(owner, from)
    else
      typedInputs.write(owner, from, { text, options, hadFiles: false }, stripFiles(text, schemaOf(options)))
  }

  useEffect(() => {
    const timer = setTimeout(save, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  useEffect(() => {
    const unlisten = listen(window, { pagehide: save })
    return () => {
      unlisten()
      save()
    }
  }, [])

  /** Replaces what was typed. It can be undone until something is typed. */
  function replace(next: Typed, message: string) {
    setNotice({ message, previous: typed })
    setTyped(next)
  }

  return {
    typed,
    notice,
    isChanged: !isSame(typed, initial),
    setText: (text: string) => change({ text }),
    setOptions: (options: RunOptions) => change({ options }),
    load: (text: string, message: string) => replace({ ...typed, text }, message),
    reset: () => replace(initial, 'The form is as it was at the beginning.'),
    undo: () => {
      if (notice?.previous) setTyped(notice.previous)
      setNotice(null)
    },
  }

  function change(part: Partial<Typed>) {
    setTyped((last) => ({ ...last, ...part }))
    if (notice?.previous) setNotice(null)
  }
}

const RESTORED = 'What you typed here before is restored.'
const RESTORED_WITHOUT_FILES = `${RESTORED} Files are not kept: choose them again.`

const isSame = (a: Typed, b: Typed): boolean =>
  a.text === b.text &&
  (Object.keys(a.options) as (keyof RunOptions)[]).every((name) => a.options[name] === b.options[name])
