import { Fragment } from 'preact'
import { useRef } from 'preact/hooks'
import type { Json } from '../../../lib/core/json/json.ts'
import { Button } from '../../components/button.tsx'
import { shorten } from '../../components/format.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { emptyList, emptyObject, getMember, printJson } from '../json-edit.ts'
import type { JsonNode } from '../json-node.ts'
import type { fieldsOf } from '../schema-view.ts'
import { initialValue, newItem } from './field.ts'
import {
  CONTROLS,
  controlId,
  FieldFrame,
  type FieldProps,
  pointerOf,
  RemoveButton,
  useFocusNext,
  useForm,
} from './field-frame.tsx'

/** A list whose items are added and removed. The focus follows: to what was added, or to what took its place. */
export function ListField({ items: itemPart, ...props }: FieldProps & { items: Json }) {
  const { view, onChange, renderPart } = useForm()
  const { node, path, label, isRequired } = props
  const list = useRef<HTMLOListElement>(null)
  const addButton = useRef<HTMLButtonElement>(null)
  const focusNext = useFocusNext()
  const items = node?.type === 'array' ? node.items : []

  const inItem = (index: number, selector: string) =>
    list.current?.children[index]?.querySelector<HTMLElement>(selector)

  function add() {
    const { length } = items
    focusNext(
      () => inItem(length, 'input, textarea, select') ?? inItem(length, CONTROLS) ?? addButton.current,
    )
    onChange([...path, items.length], newItem(itemPart, view))
  }

  function remove(index: number) {
    const next = Math.min(index, items.length - 2)
    focusNext(() => inItem(next, '[data-removes]') ?? addButton.current)
    onChange([...path, index], undefined)
  }

  /** The button that does it is gone afterwards. */
  function setList(value: JsonNode | undefined) {
    focusNext(() => addButton.current)
    onChange(path, value)
  }

  return (
    <FieldFrame
      {...props}
      isGroup
      actions={
        <>
          {node && !isRequired && <RemoveButton subject={label} onClick={() => setList(undefined)} />}
          {props.actions}
        </>
      }
    >
      {node && items.length === 0 && <p class="muted">No items.</p>}
      <ol class="stack plain-list field-items" ref={list}>
        {items.map((item, index) => (
          <li key={index}>
            {renderPart({
              part: itemPart,
              path: [...path, index],
              label: `${label} ${index + 1}`,
              isRequired: false,
              node: item,
              actions: (
                <RemoveButton subject={`${label} ${index + 1}`} isInList onClick={() => remove(index)} />
              ),
            })}
          </li>
        ))}
      </ol>
      <div class="actions">
        <button type="button" class="small" ref={addButton} onClick={add}>
          Add item
          <VisibleText text={` to ${label}`} class="visually-hidden" />
        </button>
        {!node && isRequired && (
          <button type="button" class="small" onClick={() => setList(emptyList())}>
            Empty list
            <VisibleText text={` for ${label}`} class="visually-hidden" />
          </button>
        )}
      </div>
    </FieldFrame>
  )
}

type Fields = ReturnType<typeof fieldsOf>

/** An object within another. One that is absent shows its fields when it is added. */
export function ObjectField({ fields, ...props }: FieldProps & { fields: Fields }) {
  const { view, id, onChange } = useForm()
  const { node, path, label, isRequired } = props
  const focusNext = useFocusNext()
  const group = () => document.getElementById(controlId(id, pointerOf(path)))
  const add = () => {
    focusNext(() => group()?.querySelector<HTMLElement>('input, textarea, select') ?? group())
    const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]))
    const required = fields.filter((field) => field.isRequired).map(({ name }) => name)
    onChange(path, initialValue({ type: 'object', properties, required }, view) ?? emptyObject())
  }
  const actions = (
    <>
      {!node && <Button label="Add" class="small" aria-label={`Add ${label}`} onClick={add} />}
      {node && !isRequired && typeof path.at(-1) !== 'number' && (
        <RemoveButton
          subject={label}
          onClick={() => {
            focusNext(() => group()?.querySelector<HTMLElement>(CONTROLS))
            onChange(path, undefined)
          }}
        />
      )}
      {props.actions}
    </>
  )
  return (
    <FieldFrame {...props} isGroup actions={actions}>
      {node && <ObjectMembers node={node} fields={fields} path={path} />}
    </FieldFrame>
  )
}

type MembersProps = { node: JsonNode; fields: Fields; path: FieldProps['path'] }

export function ObjectMembers({ node, fields, path }: MembersProps) {
  const order = fields.map(({ name }) => name)
  const form = useForm()
  const focusNext = useFocusNext()
  const list = useRef<HTMLDListElement>(null)
  const others = node.type === 'object' ? node.members.filter(({ name }) => !order.includes(name)) : []
  return (
    <>
      {fields.map(({ name, schema, isRequired }) => (
        <Fragment key={name}>
          {form.renderPart({
            part: schema,
            path: [...path, name],
            label: name,
            isRequired,
            node: getMember(node, name),
          })}
        </Fragment>
      ))}
      {others.length > 0 && (
        <dl class="form field-others" ref={list}>
          {others.map(({ name, value }) => (
            <div key={name}>
              <dt>
                <VisibleText text={name} class="mono" /> <span class="muted">is not in the schema</span>
              </dt>
              <dd class="toolbar">
                <VisibleText text={shorten(printJson(value, null), 200)} class="mono" />
                <RemoveButton
                  subject={name}
                  onClick={() => {
                    focusNext(
                      () =>
                        list.current?.querySelector('button') ??
                        document.getElementById(controlId(form.id, pointerOf([...path, order[0] ?? '']))),
                    )
                    form.onChange([...path, name], undefined)
                  }}
                />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}
