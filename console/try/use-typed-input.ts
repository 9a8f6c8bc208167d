import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { JsonObject } from '../../lib/core/json/json.ts'
import type { RunOptions } from './run-options.ts'
import { stripFiles } from './strip-files.ts'
import { type InputOwner, TypedInputs } from './typed-inputs.ts'

/** The input and the options as they are typed. */
export type Typed = { text: string; options: RunOptions }

/** What has replaced the input, and what it replaced. */
type Notice = { message: string; previous: Typed | null }

type Params = {
  /** Null if it is not known: then nothing is kept. */
  owner: InputOwner | null
  /** The execution that the form begins with. */
  from: string | null
  /** How the form begins. */
  initial: Typed
  /** Adapts what was typed before to what exists now. */
  restore: (typed: Typed) => Typed
  schemaOf: (options: RunOptions) => JsonObject
}

/** Outlives the page and the token: each owner has inputs of its own. */
const typedInputs = new TypedInputs()

/** Storing is not free: not at each key. */
const PAUSE_MS = 300

/** What is typed, kept for when the page is opened again in this tab: by Back, a reload or another token. */
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
    window.addEventListener('pagehide', save)
    return () => {
      window.removeEventListener('pagehide', save)
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
