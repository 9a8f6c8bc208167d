import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { VisibleText } from './visible-text.tsx'

/** What ties a control to its label, its help and its errors. */
type Attributes = { id: string; 'aria-describedby': string; 'aria-invalid': boolean }

type FieldProps = {
  label: string
  class?: string
  help?: ComponentChildren
  /** What is wrong with it. */
  problems?: string[] | undefined
  children: (attributes: Attributes) => ComponentChildren
}

/** One control with its label. The place of its errors is always there, so that screen readers notice them. */
export function Field({ label, class: className, help, problems = [], children }: FieldProps) {
  const id = useId()
  return (
    <div class={className}>
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

type NumberProps = Omit<FieldProps, 'children'> & {
  value: string
  /** Without a step, any fraction. */
  range: { min: number; max: number; step?: number }
  isRequired?: boolean
  placeholder?: string
  onInput: (value: string) => void
}

/** A number, as it is typed. */
export const NumberField = ({ value, range, isRequired, placeholder, onInput, ...field }: NumberProps) => (
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
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </Field>
)

type ChoiceProps<Name extends string> = {
  label: string
  choices: Record<Name, string>
  chosen: Name
  onChoose: (name: Name) => void
}

/** One of a few, all of which are shown. */
export function Choices<Name extends string>({ label, choices, chosen, onChoose }: ChoiceProps<Name>) {
  const id = useId()
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {(Object.keys(choices) as Name[]).map((name) => (
        <label key={name}>
          <input type="radio" name={id} checked={name === chosen} onChange={() => onChoose(name)} />
          {choices[name]}
        </label>
      ))}
    </fieldset>
  )
}
