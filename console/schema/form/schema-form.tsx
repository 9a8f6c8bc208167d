import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import type { Issue } from '../check/check-text.ts'
import { type JsonPath, setNode } from '../json/json-edit.ts'
import type { JsonNode } from '../json/json-node.ts'
import type { SchemaView } from '../schema-view.ts'
import { describeField, type Field } from './field.ts'
import { FieldEditor } from './field-editor.tsx'
import { FormContext, type FormContextValue, pointerOf } from './form-context.ts'
import { ObjectMembers } from './object-field.tsx'

type Props = {
  /** An object. */
  root: JsonNode
  view: SchemaView
  issues: Issue[]
  isReadOnly: boolean
  onChange: (root: JsonNode) => void
  onLongText: (path: JsonPath, text: string) => void
  /** Controls whose content is not part of the value; empty when there are none. */
  onProblems: (problems: string[]) => void
}

/** Whether a schema can be shown as a form: its value is an object with declared fields. */
export const hasForm = (view: SchemaView): boolean => describeField(view.root, view).kind === 'object'

/** The controls for an object. */
export function SchemaForm({ root, view, issues, isReadOnly, onChange, onLongText, onProblems }: Props) {
  const id = useId()
  const [problems, setProblems] = useState<Record<string, string>>({})
  useEffect(() => onProblems(Object.values(problems)), [problems])
  useEffect(() => () => onProblems([]), [])
  const field = useMemo(() => describeField(view.root, view), [view])
  if (field.kind !== 'object') return null
  const form: FormContextValue = {
    view,
    id,
    isReadOnly,
    issues: Map.groupBy(issues, ({ path }) => path),
    onChange: (path, value) => onChange(setNode(root, path, value, orderAt(path, field, view)) ?? root),
    onLongText,
    onProblem: (path, problem) =>
      setProblems(({ [pointerOf(path)]: _, ...others }) =>
        problem === null ? others : { ...others, [pointerOf(path)]: problem },
      ),
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
