import './schema.css'
import { useMemo } from 'preact/hooks'
import { isJsonObject, type Json, type JsonObject } from '../../lib/core/json/json.ts'
import { readFileLimits } from '../../lib/schema/files/file-schema.ts'
import { CopyButton } from '../components/button.tsx'
import { ItemTable } from '../components/item-table.tsx'
import { TextList, VisibleText } from '../components/visible-text.tsx'
import { describeBounds } from './form/field.ts'
import { fieldsOf, openSchema, readPart, type SchemaView } from './schema-view.ts'

/** A declared schema with a button that copies it. @param title what it describes: `Input`, for example */
export const SchemaCard = ({ title, schema }: { title: string; schema: JsonObject }) => (
  <section class="card" aria-label={`${title} schema`}>
    <div class="toolbar">
      <h2>{title}</h2>
      <CopyButton
        text={() => JSON.stringify(schema, null, 2)}
        label="Copy schema"
        subject={`of the ${title}`}
      />
    </div>
    <SchemaTable schema={schema} caption={`Fields of the ${title.toLowerCase()}`} />
  </section>
)

/** A declared schema (field map or JSON Schema) as a table. @param caption what it describes, for screen readers */
export function SchemaTable({ schema, caption }: { schema: JsonObject; caption: string }) {
  const rows = useMemo(() => schemaRows(schema), [schema])
  if (rows.length === 0) return <p class="muted">No fields.</p>
  return (
    <ItemTable
      caption={caption}
      items={rows}
      keyOf={({ parent, name }) => `${parent} › ${name}`}
      columns={{
        Field: ({ parent, name, isField, depth }) => (
          <span style={{ paddingLeft: `${1.2 * Math.min(depth, 6)}rem` }}>
            {parent && <VisibleText text={`${parent} › `} class="visually-hidden" />}
            <VisibleText text={name} class={isField ? 'mono' : 'muted'} />
          </span>
        ),
        Type: ({ type, isRequired }) => (
          <>
            <VisibleText text={type} />
            {isRequired && <div class="field-mark">required</div>}
          </>
        ),
        Description: {
          text: ({ description, rules }) => (
            <>
              <VisibleText text={description} />
              <TextList class="plain-list field-mark" texts={rules} />
            </>
          ),
        },
      }}
    />
  )
}

/** One line of a schema as a table. */
type SchemaRow = {
  /** Field name, or what the part is otherwise, such as `each item`. Unique together with `parent`. */
  name: string
  /** The names above, joined; empty at the top. */
  parent: string
  isField: boolean
  depth: number
  type: string
  isRequired: boolean
  rules: string[]
  description: string
}

/** A schema can be large: a longer table would not be read. */
const MAX_ROWS = 500
const MAX_DEPTH = 12

const ALTERNATIVES: Record<string, string> = { anyOf: 'any of', oneOf: 'one of', allOf: 'all of' }

/** The lines of a declared schema, parents before their parts. */
export function schemaRows(declared: JsonObject): SchemaRow[] {
  const view = openSchema(declared)
  const rows: SchemaRow[] = []
  for (const each of partsOf(view.root, view, { parent: '', depth: 0, above: [] })) {
    rows.push(each)
    if (rows.length === MAX_ROWS) break
  }
  return rows
}

/** `above`: the schemas around a part, because a schema can contain itself. */
type Position = { parent: string; depth: number; above: readonly unknown[] }
type Label = { name: string; isField: boolean; isRequired: boolean }

function* partsOf(part: Json, view: SchemaView, position: Position): Generator<SchemaRow> {
  const { schema } = readPart(part, view) ?? {}
  if (!schema) return
  const unnamed = (name: string) => ({ name, isField: false, isRequired: false })
  for (const { name, schema: field, isRequired } of fieldsOf(schema))
    yield* row(field, { name, isField: true, isRequired }, view, position)
  if (isJsonObject(schema.patternProperties))
    for (const [pattern, field] of Object.entries(schema.patternProperties))
      yield* row(field, unnamed(`names that match ${pattern}`), view, position)
  if (isJsonObject(schema.additionalProperties))
    yield* row(schema.additionalProperties, unnamed('other names'), view, position)
  for (const [index, item] of listOf(schema.prefixItems).entries())
    yield* row(item, unnamed(`item ${index + 1}`), view, position)
  if (isJsonObject(schema.items)) yield* itemRows(schema.items, view, position)
  for (const [keyword, label] of Object.entries(ALTERNATIVES))
    for (const [index, alternative] of listOf(schema[keyword]).entries())
      yield* row(alternative, unnamed(`${label}: ${index + 1}`), view, position)
}

/** Items that are simple are part of the type of their list. */
function* itemRows(items: JsonObject, view: SchemaView, position: Position): Generator<SchemaRow> {
  const { schema } = readPart(items, view) ?? {}
  const isObject =
    schema !== undefined &&
    fieldsOf(schema).length > 0 &&
    schema.description === undefined &&
    !readFileLimits(schema)
  if (isObject && !position.above.includes(schema.properties))
    yield* partsOf(items, view, { ...position, above: [...position.above, schema.properties] })
  else if (schema && (isDetailed(schema) || isObject))
    yield* row(items, { name: 'each item', isField: false, isRequired: false }, view, position)
}

const isDetailed = (schema: JsonObject) => Object.keys(schema).some((keyword) => keyword !== 'type')

function* row(part: Json, label: Label, view: SchemaView, position: Position): Generator<SchemaRow> {
  const { schema, isNullable } = readPart(part, view) ?? { schema: {}, isNullable: false }
  const identity = schema.properties ?? schema.anyOf ?? schema.oneOf ?? schema.allOf
  const isRecursive = identity !== undefined && position.above.includes(identity)
  yield {
    ...label,
    parent: position.parent,
    depth: position.depth,
    type: part === false ? 'never' : `${typeName(schema, view)}${isNullable ? ' or null' : ''}`,
    rules: [...rulesOf(schema), ...(isRecursive ? ['has the same fields as above'] : [])],
    description: typeof schema.description === 'string' ? schema.description : '',
  }
  if (isRecursive || position.depth >= MAX_DEPTH || readFileLimits(schema)) return
  yield* partsOf(schema, view, {
    parent: position.parent === '' ? label.name : `${position.parent} › ${label.name}`,
    depth: position.depth + 1,
    above: [...position.above, identity],
  })
}

/** Such as `string`, `array of number` and `object`: the words of JSON Schema. */
function typeName(schema: JsonObject, view: SchemaView): string {
  if (readFileLimits(schema)) return 'file'
  const types = [schema.type ?? []].flat()
  if (types.length > 0)
    return types.map((type) => (type === 'array' ? listName(schema, view) : `${type}`)).join(' or ')
  if (isJsonObject(schema.properties)) return 'object'
  if (schema.enum !== undefined || schema.const !== undefined) return 'value'
  return ['anyOf', 'oneOf', 'allOf', '$ref'].some((keyword) => schema[keyword] !== undefined)
    ? 'see below'
    : 'any'
}

function listName(schema: JsonObject, view: SchemaView): string {
  const item = isJsonObject(schema.items) ? readPart(schema.items, view) : undefined
  if (!item || typeof item.schema.type !== 'string') return 'array'
  return `array of ${typeName(item.schema, view)}${item.isNullable ? ' or null' : ''}`
}

function rulesOf(schema: JsonObject): string[] {
  const { enum: choices, const: constant } = schema
  return [
    ...(Array.isArray(choices) ? [`one of ${choices.map(show).join(', ')}`] : []),
    ...(constant !== undefined ? [`always ${show(constant)}`] : []),
    ...describeBounds(schema),
    ...(schema.default !== undefined ? [`default ${show(schema.default)}`] : []),
    ...(schema.deprecated === true ? ['deprecated'] : []),
  ]
}

const show = (value: Json) => JSON.stringify(value)

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])
