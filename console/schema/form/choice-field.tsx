import type { Json } from '../../../lib/core/json.ts'
import { printJson, valueNode } from '../json/json-edit.ts'
import { FieldFrame, type FieldProps, useControl } from './field-frame.tsx'
import { useForm } from './form-context.ts'

const UNSET = 'unset'
const OTHER = 'other'

/** One of several values. What is not among them stays until another is chosen. */
export function ChoiceField({ choices, ...props }: FieldProps & { choices: Json[] }) {
  const { node } = props
  const { onChange, isReadOnly } = useForm()
  const control = useControl(props)
  const all = props.field.isNullable && !choices.includes(null) ? [...choices, null] : choices
  const texts = all.map((choice) => printJson(valueNode(choice), null))
  const current = node && printJson(node, null)
  const index = current === undefined ? -1 : texts.indexOf(current)
  return (
    <FieldFrame {...props}>
      <select
        {...control}
        disabled={isReadOnly}
        value={current === undefined ? UNSET : index >= 0 ? String(index) : OTHER}
        onChange={({ currentTarget: { value } }) => {
          if (value !== OTHER)
            onChange(props.path, value === UNSET ? undefined : valueNode(all[Number(value)]))
        }}
      >
        {typeof props.path.at(-1) !== 'number' && (
          <option value={UNSET}>{props.isRequired ? 'Choose…' : '(not set)'}</option>
        )}
        {all.map((choice, position) => (
          <option key={texts[position]} value={String(position)}>
            {labelOf(choice)}
          </option>
        ))}
        {current !== undefined && index < 0 && (
          <option value={OTHER}>{shorten(current)} (not allowed)</option>
        )}
      </select>
    </FieldFrame>
  )
}

function labelOf(choice: Json): string {
  if (choice === '') return '(empty text)'
  return typeof choice === 'string' ? choice : shorten(printJson(valueNode(choice), null))
}

const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text)
