import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { toVisible, VisibleText } from './visible-text.tsx'

/** What ties a control to its label, its help and its errors. */
type Attributes = { id: string; 'aria-describedby': string; 'aria-invalid': boolean }

type FieldProps = {
  label: string
  class?: string | undefined
  help?: ComponentChildren
  /** What is wrong with it. */
  problems?: string[] | undefined
  children: (attributes: Attributes) => ComponentChildren
}

/** One control with its label. The place of its errors is always there, so that screen readers notice them. */
export function Field({ label, class: className = '', help, problems = [], children }: FieldProps) {
  const id = useId()
  return (
    <div class={`labelled ${className}`}>
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': `${id}-help ${id}-error`, 'aria-invalid': problems.length > 0 })}
      <p id={`${id}-help`} class="muted" hidden={!help}>
        {help}
      </p>
      <div id={`${id}-error`} aria-live="polite">
        {problems.map((problem) => (
          <p key={problem} class="field-error">
            <VisibleText text={problem} />
          </p>
        ))}
      </div>
    </div>
  )
}

/** A field whose value is edited. */
type Edited<Value> = Omit<FieldProps, 'children'> & { value: Value; onChange: (value: Value) => void }

type TextProps = Edited<string> & {
  type?: 'text' | 'url' | 'datetime-local'
  inputMode?: 'numeric' | 'decimal'
  name?: string
  min?: string
  max?: string
  maxLength?: number
  placeholder?: string
  required?: boolean
  readOnly?: boolean
  isMono?: boolean
  suggestions?: readonly string[] | undefined
}

/** A line of text. Times count when they are complete. */
export function TextField(props: TextProps) {
  const { label, class: className, help, problems, suggestions, isMono, onChange, ...input } = props
  const take = ({ currentTarget }: { currentTarget: HTMLInputElement }) => onChange(currentTarget.value)
  return (
    <Field label={label} class={className} help={help} problems={problems}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            {...input}
            {...(input.type === 'datetime-local' ? { onChange: take } : { onInput: take })}
            class={isMono ? 'mono' : undefined}
            list={suggestions && `${attributes.id}-list`}
            autocomplete="off"
            spellcheck={false}
          />
          {suggestions && (
            <datalist id={`${attributes.id}-list`}>
              {suggestions.map((value) => (
                <option key={value} value={value} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  )
}

type AreaProps = Edited<string> & { placeholder?: string; maxLength?: number; hasSpellcheck?: boolean }

/** A few lines of text. */
export const AreaField = ({
  value,
  placeholder,
  maxLength,
  hasSpellcheck,
  onChange,
  ...field
}: AreaProps) => (
  <Field {...field}>
    {(attributes) => (
      <textarea
        {...attributes}
        rows={2}
        maxLength={maxLength}
        placeholder={placeholder}
        spellcheck={hasSpellcheck ?? false}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )}
  </Field>
)

type NumberProps = Edited<string> & {
  /** Without a step, any fraction. */
  range: { min: number; max: number; step?: number }
  isRequired?: boolean
  placeholder?: string
}

/** A number, as it is typed. */
export const NumberField = ({ value, range, isRequired, placeholder, onChange, ...field }: NumberProps) => (
  <Field {...field}>
    {(attributes) => (
      <input
        {...attributes}
        type="number"
        inputMode={range.step === 1 ? 'numeric' : 'decimal'}
        min={range.min}
        max={range.max}
        step={range.step ?? 'any'}
        required={isRequired}
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )}
  </Field>
)

type SelectProps<Value extends string> = Edited<Value> & {
  required?: boolean
  choices: readonly (readonly [value: Value, label: string])[]
}

/** One of several, which a list names. */
export const SelectField = <Value extends string>(props: SelectProps<Value>) => {
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

type CheckProps = { label: ComponentChildren; value: boolean; onChange: (value: boolean) => void }

export const CheckField = ({ label, value, onChange }: CheckProps) => (
  <label class="choice">
    <input
      type="checkbox"
      checked={value}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    <span>{label}</span>
  </label>
)

type CheckListProps<Value extends string> = {
  label: string
  name?: string
  choices: readonly (readonly [value: Value, label: ComponentChildren])[]
  value: readonly Value[]
  problem?: string | false
  onChange: (value: Value[]) => void
}

/** Any number of a few, all of which are shown. */
export function CheckList<Value extends string>(props: CheckListProps<Value>) {
  const { label, name, choices, value, problem, onChange } = props
  const id = useId()
  const chosen = (each: Value, isChosen: boolean) =>
    choices
      .map(([choice]) => choice)
      .filter((choice) => (choice === each ? isChosen : value.includes(choice)))
  return (
    <>
      <fieldset class="choices" aria-describedby={problem ? id : undefined}>
        <legend>{label}</legend>
        {choices.map(([choice, text]) => (
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

type ChoiceProps<Name extends string> = {
  label: string
  choices: Record<Name, string>
  value: Name
  onChange: (name: Name) => void
}

/** One of a few, all of which are shown. */
export function Choices<Name extends string>({ label, choices, value, onChange }: ChoiceProps<Name>) {
  const id = useId()
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {(Object.keys(choices) as Name[]).map((name) => (
        <label key={name}>
          <input type="radio" name={id} checked={name === value} onChange={() => onChange(name)} />
          {choices[name]}
        </label>
      ))}
    </fieldset>
  )
}
