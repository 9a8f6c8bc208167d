import type { ComponentType, VNode } from 'preact'
import {
  CheckField,
  CheckList,
  type CheckListSpec,
  type CheckSpec,
  Choices,
  type Edited,
  type RadioSpec,
  SelectField,
  type SelectSpec,
  TextField,
  type TextSpec,
} from './field.tsx'

/** How a member of a form is edited. What is typed is a text. */
type Spec<Value> = [Value] extends [boolean]
  ? CheckSpec
  : [Value] extends [(infer Item extends string)[]]
    ? CheckListSpec<Item>
    : TextSpec | SelectSpec<Value> | RadioSpec<Value & string>

/** By the members of the form, in the order in which they are shown. What is false is left out. */
export type Specs<T> = { [Name in keyof T]?: Spec<T[Name]> | false }

/** The form shows these messages at its members. */
type Problems = Partial<Record<string, string | string[]>>

export type Form<T> = {
  form: T
  set: (change: Partial<T>) => void
  field: <Name extends keyof T>(name: Name) => Edited<T[Name]>
  /** The controls of the form, or of a part of it: one declaration for each. */
  fields: (specs: Specs<T>, problems?: Problems) => VNode
  /** The same beside each other, where there is room. */
  row: (specs: Specs<T>, problems?: Problems) => VNode
}

/** The form of values that are kept elsewhere. */
export function toForm<T>(form: T, set: Form<T>['set']): Form<T> {
  const field: Form<T>['field'] = (name) => ({
    value: form[name],
    onChange: (value) => set({ [name]: value } as unknown as Partial<T>),
  })
  const toControl = (name: keyof T & string, spec: object, problems: Problems) => {
    const [Control, edited] = [controlOf(spec, form[name]), field(name)]
    return <Control key={name} name={name} problems={[problems[name] ?? []].flat()} {...spec} {...edited} />
  }
  const fields: Form<T>['fields'] = (specs, problems = {}) => (
    <>
      {(Object.keys(specs) as (keyof T & string)[]).map((name) => {
        const spec = specs[name]
        return spec && toControl(name, spec, problems)
      })}
    </>
  )
  return { form, set, field, fields, row: (...of) => <div class="fields">{fields(...of)}</div> }
}

type Control = ComponentType<Record<string, unknown>>

function controlOf(spec: object, value: unknown): Control {
  if ('checks' in spec) return CheckList as Control
  if ('radios' in spec) return Choices as Control
  if ('choices' in spec) return SelectField as Control
  return (typeof value === 'boolean' ? CheckField : TextField) as Control
}

/** What the controls are called, by the members that they edit. */
export const labelsOf = (fields: Record<string, { label: string }>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, { label }]) => [name, label]))
