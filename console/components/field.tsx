import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Text, toVisible } from './visible-text.tsx'

/** What ties a control to its label, its help and its errors. */
type Attributes = { id: string; 'aria-describedby': string; 'aria-invalid': boolean }

type FieldProps = {
  label: string
  help?: ComponentChildren
  problems?: string[] | undefined
  children: (attributes: Attributes) => ComponentChildren
}

/** One control with its label. The place of its errors is always there, so that screen readers notice them. */
export function Field({ label, help, problems = [], children }: FieldProps) {
  const id = useId()
  return (
    <div class="labelled">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-help ${id}-error`, 'aria-invalid': problems.length > 0 })}
      <p id={`${id}-help`} class="muted" hidden={!help}>
        {help}
      </p>
      <div id={`${id}-error`} aria-live="polite">
        {problems.map((problem) => (
          <Text key={problem} class="field-error" text={problem} />
        ))}
      </div>
    </div>
  )
}

export type Edited<Value> = { value: Value; onChange: (value: Value) => void }

export type TextSpec = Omit<FieldProps, 'children'> & {
  type?: 'text' | 'url' | 'datetime-local'
  name?: string
  min?: string
  max?: string
  maxLength?: number
  placeholder?: string
  required?: boolean
  readOnly?: boolean
  spellcheck?: boolean
  inputMode?: 'numeric' | 'decimal'
  isMono?: boolean
  suggestions?: readonly string[] | undefined
  /** Has a few lines, or as many as `rows`. */
  isLong?: boolean
  rows?: number
  /** The limits of a number. Without a step, any fraction is allowed. */
  range?: { min: number; max: number; step?: number }
}

/** A text, or a number as it is typed. Times count when they are complete. */
export function TextField(props: TextSpec & Edited<string>) {
  const { label, help, problems, suggestions, isMono, isLong, range, onChange, ...given } = props
  const input = {
    ...{ spellcheck: false, ...given, class: isMono ? 'mono' : undefined },
    ...(range && {
      ...{ type: 'number', inputMode: range.step === 1 ? ('numeric' as const) : ('decimal' as const) },
      ...{ min: range.min, max: range.max, step: range.step ?? 'any' },
    }),
    [given.type === 'datetime-local' ? 'onChange' : 'onInput']: ({ currentTarget }: TypedEvent) =>
      onChange(currentTarget.value),
  }
  return (
    <Field {...{ label, help, problems }}>
      {(attributes) =>
        isLong ? (
          <textarea rows={2} {...attributes} {...input} />
        ) : (
          <>
            <input
              {...attributes}
              {...(input as object)}
              list={suggestions && `${attributes.id}-list`}
              autocomplete="off"
            />
            {suggestions && <Suggestions id={attributes.id} values={suggestions.map((each) => [each, ''])} />}
          </>
        )
      }
    </Field>
  )
}

type TypedEvent = { currentTarget: { value: string } }

/** What a text field offers, with names. @param id of the field, whose `list` they are */
export const Suggestions = ({ id, values }: { id: string; values: Iterable<[string, string]> }) => (
  <datalist id={`${id}-list`}>
    {[...values].map(([value, name]) => (
      <option key={value} value={value}>
        {toVisible(name)}
      </option>
    ))}
  </datalist>
)

type Named<Value, Name = string> = readonly (readonly [value: Value, label: Name])[]

export type SelectSpec<Value> = Omit<FieldProps, 'children'> & { required?: boolean; choices: Named<Value> }

/** One of several, which a list names. */
export const SelectField = <Value extends string>(props: SelectSpec<Value> & Edited<Value>) => {
  const { value, choices, required, onChange, ...field } = props
  return (
    <Field {...field}>
      {(attributes) => (
        <select
          {...attributes}
          required={required}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
        >
          {choices.map(([choice, name]) => (
            <option key={choice} value={choice}>
              {toVisible(name)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export type CheckSpec = { label: ComponentChildren }

export const CheckField = ({ label, value, onChange }: CheckSpec & Edited<boolean>) => (
  <label class="choice">
    <input
      type="checkbox"
      checked={value}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    <span>{label}</span>
  </label>
)

export type CheckListSpec<Value> = {
  label: string
  name?: string
  checks: Named<Value, ComponentChildren>
  problem?: string | false
}

/** Any number of a few, all of which are shown. */
export function CheckList<Value extends string>(props: CheckListSpec<Value> & Edited<Value[]>) {
  const { label, name, checks, value, problem, onChange } = props
  const id = useId()
  const chosen = (each: Value, isChosen: boolean) =>
    checks.map(([choice]) => choice).filter((choice) => (choice === each ? isChosen : value.includes(choice)))
  return (
    <>
      <fieldset class="choices" aria-describedby={problem ? id : undefined}>
        <legend>{label}</legend>
        {checks.map(([choice, text]) => (
          <label key={choice}>
            <input
              type="checkbox"
              name={name}
              checked={value.includes(choice)}
              onChange={({ currentTarget }) => onChange(chosen(choice, currentTarget.checked))}
            />
            <span>{text}</span>
          </label>
        ))}
      </fieldset>
      {problem && (
        <p id={id} class="field-error" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}

export type RadioSpec<Name extends string> = { label: string; radios: Record<Name, string> }

/** One of a few, all of which are shown. */
export function Choices<Name extends string>(props: RadioSpec<Name> & Edited<Name>) {
  const { label, radios, value, onChange } = props
  const id = useId()
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {(Object.keys(radios) as Name[]).map((name) => (
        <label key={name}>
          <input type="radio" name={id} checked={name === value} onChange={() => onChange(name)} />
          {radios[name]}
        </label>
      ))}
    </fieldset>
  )
}
