import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { personOf, useMe } from '../state/session.ts'
import { formKey, TypedValues } from '../state/typed-values.ts'
import { Button } from './button.tsx'
import { type Form, toForm } from './fields.tsx'

const typedValues = new TypedValues()

const keyOf = (me: MeRecord, name: string): string => formKey({ ...me, personId: personOf(me) }, name)

export type TypedForm<T> = Form<T> & {
  /** Whether it began with what was typed before the page was left. */
  isRestored: boolean
  /** It was sent, or its user does not want it: next time, it begins afresh. */
  forget: () => void
  /** Forgets it, and begins afresh now. */
  reset: () => void
}

/** The values that are typed into a form, and gone with it. */
export function useForm<T extends object>(begin: () => T): Form<T> {
  const [form, setForm] = useState(begin)
  return toForm(form, (change) => setForm((last) => ({ ...last, ...change })))
}

/**
 * What is typed into a form. It is there again when the page is loaded again in this tab, for tokens of the same
 * organization and tenant.
 * @param name of the form and of what it changes, such as `webhook 0190…`
 * @param begin how it begins; what was typed has the same members
 * @param toStored what may be stored of it; null: nothing
 */
export function useTypedForm<T extends object>(
  name: string,
  begin: () => T,
  toStored: (form: T) => object | null = (form) => form,
): TypedForm<T> {
  const me = useMe()
  const forget = () => me && typedValues.write(keyOf(me, name), null)
  const initial = useMemo(begin, [])
  const key = useMemo(() => me && keyOf(me, name), [me === null])
  const read = () => (key === null ? null : restore(typedValues.read(key), initial))
  const [{ form, isRestored }, setState] = useState(() => toState(read(), initial))
  const latest = useRef(form)
  // Pages do not wait until it is known whose form it is.
  useEffect(() => {
    const restored = latest.current === initial ? read() : null
    if (restored === null) return
    latest.current = restored
    setState(toState(restored, initial))
  }, [key])
  const set = (change: Partial<T>) => {
    latest.current = { ...latest.current, ...change }
    setState({ form: latest.current, isRestored })
    const isChanged = JSON.stringify(latest.current) !== JSON.stringify(initial)
    if (key !== null) typedValues.write(key, isChanged ? toStored(latest.current) : null)
  }
  return {
    ...toForm(form, set),
    isRestored,
    forget,
    reset() {
      forget()
      latest.current = initial
      setState(toState(null, initial))
    },
  }
}

const toState = <T,>(restored: T | null, initial: T) => ({
  form: restored ?? initial,
  isRestored: restored !== null,
})

/**
 * Opens a form if something was typed into it before the page was left.
 * @param name null: nothing is kept of it
 * @param isOffered whether the token may use it, as far as that is known
 */
export function useReopen(name: string | null, isOffered: boolean, open: () => void): void {
  const me = useMe()
  useEffect(() => {
    if (me && isOffered && name !== null && typedValues.read(keyOf(me, name))) open()
  }, [me === null, isOffered, name])
}

type RestoredProps = {
  typed: Pick<TypedForm<object>, 'isRestored'>
  /** Absent for a dialog, which forgets what was typed when it is closed. */
  onReset?: () => void
  children?: ComponentChildren
}

export const Restored = ({ typed, onReset, children }: RestoredProps) =>
  typed.isRestored ? (
    <p class="muted">
      What you typed here before is restored. {children}{' '}
      {onReset ? (
        <Button label="Start over" class="small" onClick={onReset} />
      ) : (
        'Closing the form discards it.'
      )}
    </p>
  ) : null

/** What was typed, in the members that the form has. Null if there is nothing. */
function restore<T extends object>(stored: JsonObject | null, initial: T): T | null {
  if (!stored) return null
  const members = Object.entries(initial).map(([name, value]) => {
    const typed = stored[name]
    return [name, typed !== undefined && kindOf(typed) === kindOf(value) ? typed : value]
  })
  return Object.fromEntries(members)
}

/** Null stands for a text that nobody has entered. */
const kindOf = (value: Json): string =>
  Array.isArray(value) ? 'list' : value === null ? 'string' : typeof value
