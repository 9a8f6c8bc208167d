import type { ComponentType } from 'preact'
import {
  CheckField,
  CheckList,
  type CheckListSpec,
  type CheckSpec,
  Choices,
  type RadioSpec,
  SelectField,
  type SelectSpec,
  TextField,
  type TextSpec,
} from './field.tsx'
import type { Form } from './typed-form.tsx'

/** How a member of a form is edited. What is typed is a text. */
type Spec<Value> = [Value] extends [boolean]
  ? CheckSpec
  : [Value] extends [(infer Item extends string)[]]
    ? CheckListSpec<Item>
    : TextSpec | SelectSpec<Value> | RadioSpec<Value & string>

/** By the members of the form, in the order in which they are shown. What is false is left out. */
export type Specs<T> = { [Name in keyof T]?: Spec<T[Name]> | false }

type Props<T> = { of: Pick<Form<T>, 'field'>; fields: Specs<NoInfer<T>> }

/** The controls of a form, or of a part of it: one declaration for each. */
export const Fields = <T extends object>({ of, fields }: Props<T>) => (
  <>
    {(Object.keys(fields) as (keyof T & string)[]).map((name) => {
      const [spec, field] = [fields[name], of.field(name)]
      const Control = spec && controlOf(spec, field.value)
      return Control && <Control key={name} name={name} {...spec} {...field} />
    })}
  </>
)

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
