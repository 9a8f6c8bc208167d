import { valueNode } from '../json/json-edit.ts'
import type { JsonNode } from '../json/json-node.ts'
import { ChoiceField } from './choice-field.tsx'
import { describeField, type Field } from './field.ts'
import { FieldFrame, type FieldProps, useControl } from './field-frame.tsx'
import { type EditedPart, useForm } from './form-context.ts'
import { JsonField } from './json-field.tsx'
import { ListField } from './list-field.tsx'
import { ObjectField } from './object-field.tsx'
import { NumberField, TextField } from './text-field.tsx'

/** The controls for one part of a value. */
export function FieldEditor({ part, node, actions, ...props }: EditedPart) {
  const { view, onChange, isReadOnly } = useForm()
  const field = describeField(part, view)
  const { path, label } = props
  const isNull = node?.type === 'null' && field.isNullable
  const nullButton = field.isNullable && !isReadOnly && field.kind !== 'json' && field.kind !== 'choice' && (
    <button
      type="button"
      class="small"
      aria-pressed={isNull}
      aria-label={`null for ${label}`}
      onClick={() => onChange(path, isNull ? undefined : valueNode(null))}
    >
      null
    </button>
  )
  const all = {
    ...props,
    field,
    node,
    actions: (
      <>
        {nullButton}
        {actions}
      </>
    ),
  }
  if (isNull && field.kind !== 'choice')
    return (
      <FieldFrame {...all}>
        <NullValue {...all} />
      </FieldFrame>
    )
  return fits(field, node) ? <Control {...all} /> : <JsonField {...all} />
}

function Control(props: FieldProps) {
  const { field } = props
  switch (field.kind) {
    case 'text':
      return <TextField {...props} isLine={field.isLine} inputMode={field.inputMode} />
    case 'number':
      return <NumberField {...props} />
    case 'boolean':
      return <ChoiceField {...props} choices={[true, false]} />
    case 'choice':
      return <ChoiceField {...props} choices={field.choices} />
    case 'object':
      return <ObjectField {...props} fields={field.fields} />
    case 'list':
      return <ListField {...props} items={field.items} />
    case 'null':
      return <ChoiceField {...props} choices={[null]} />
    case 'json':
      return <JsonField {...props} />
  }
}

function NullValue(props: FieldProps) {
  const { id, 'aria-describedby': describedBy } = useControl(props)
  return (
    <output id={id} aria-describedby={describedBy} class="field-null">
      null
    </output>
  )
}

/** Whether a control can show a value. Text that is not a number yet is a mistake that its control can correct. */
function fits(field: Field, node: JsonNode | undefined): boolean {
  if (!node) return true
  switch (field.kind) {
    case 'text':
      return node.type === 'string'
    case 'number':
      return node.type === 'number' || node.type === 'string'
    case 'object':
      return node.type === 'object'
    case 'list':
      return node.type === 'array'
    default:
      return true
  }
}
