import { useEffect, useMemo, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import type { Issue } from '../check-text.ts'
import { type JsonPath, setNode, valueNode } from '../json-edit.ts'
import type { JsonNode } from '../json-node.ts'
import type { SchemaView } from '../schema-view.ts'
import { ListField, ObjectField, ObjectMembers } from './container-fields.tsx'
import { describeField, type Field } from './field.ts'
import {
  controlId,
  type EditedPart,
  FieldFrame,
  type FieldProps,
  FormContext,
  type FormContextValue,
  pointerOf,
  useControl,
  useFocusNext,
  useForm,
} from './field-frame.tsx'
import { FileField, fileOf } from './file-field.tsx'
import { JsonField } from './json-field.tsx'
import { TimeField } from './time-field.tsx'
import { ChoiceField, NumberField, TextField } from './value-fields.tsx'

type Props = {
  /** Begins the ids of all elements. */
  id: string
  root: JsonNode
  view: SchemaView
  issues: Issue[]
  onChange: (root: JsonNode) => void
  onLongText: (path: JsonPath, text: string) => void
  /** Controls whose content is not part of the value, by JSON Pointer; empty when there are none. */
  onProblems: (problems: Record<string, string>) => void
}

/** Whether a schema can be shown as a form: its value is an object with declared fields. */
export const hasForm = (view: SchemaView): boolean => describeField(view.root, view).kind === 'object'

export function SchemaForm(props: Props) {
  const { id, root, view, issues, onChange, onLongText, onProblems } = props
  const [problems, setProblems] = useState<Record<string, string>>({})
  useEffect(() => onProblems(problems), [problems])
  useEffect(() => () => onProblems({}), [])
  const field = useMemo(() => describeField(view.root, view), [view])
  if (field.kind !== 'object') return null
  const form: FormContextValue = {
    view,
    id,
    issues: Map.groupBy(issues, ({ path }) => path),
    onChange: (path, value) => onChange(setNode(root, path, value, orderAt(path, field, view)) ?? root),
    onLongText,
    onProblem: (path, problem) =>
      setProblems((last) => {
        const pointer = pointerOf(path)
        if ((last[pointer] ?? null) === problem) return last
        const { [pointer]: _, ...others } = last
        return problem === null ? others : { ...others, [pointer]: problem }
      }),
    renderPart: (part) => <FieldEditor {...part} />,
  }
  return (
    <FormContext.Provider value={form}>
      <div class="schema-form">
        <ObjectMembers node={root} fields={field.fields} path={[]} />
      </div>
    </FormContext.Provider>
  )
}

/** The names beside the part at a path, in the order of the schema. */
function orderAt([name, ...rest]: JsonPath, field: Field, view: SchemaView): string[] {
  const fields = field.kind === 'object' ? field.fields : []
  if (rest.length === 0) return fields.map((each) => each.name)
  const part = field.kind === 'list' ? field.items : fields.find((each) => each.name === name)?.schema
  return part === undefined ? [] : orderAt(rest, describeField(part, view), view)
}

function FieldEditor({ part, node, actions, ...props }: EditedPart) {
  const { view, id, onChange } = useForm()
  const field = describeField(part, view)
  const { path, label } = props
  const isNull = node?.type === 'null' && field.isNullable
  const focusNext = useFocusNext()
  const fieldId = controlId(id, pointerOf(path))
  const nullButton = field.isNullable && field.kind !== 'json' && field.kind !== 'choice' && (
    <Button
      label="null"
      class="small"
      aria-pressed={isNull}
      aria-label={`null for ${label}`}
      id={`${fieldId}-null`}
      onClick={() => {
        focusNext(() => document.getElementById(isNull ? fieldId : `${fieldId}-null`))
        onChange(path, isNull ? undefined : valueNode(null))
      }}
    />
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
    case 'time':
      return <TimeField {...props} format={field.format} />
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
    case 'file':
      return <FileField {...props} limits={field.limits} />
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

/** What controls can show. Text that is not a number yet is a mistake that its control can correct. */
const SHOWN: Partial<Record<Field['kind'], JsonNode['type'][]>> = {
  ...{ text: ['string'], time: ['string'], number: ['number', 'string'] },
  ...{ object: ['object'], list: ['array'] },
}

function fits({ kind }: Field, node: JsonNode | undefined): boolean {
  if (!node) return true
  if (kind === 'file') return fileOf(node) !== undefined || node.type === 'null'
  return SHOWN[kind]?.includes(node.type) ?? true
}
