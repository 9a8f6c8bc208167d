import '../schema.css'
import { useMemo } from 'preact/hooks'
import type { JsonObject } from '../../../lib/core/json.ts'
import { Table } from '../../components/data/table.tsx'
import { type SchemaRow, schemaRows } from './schema-rows.ts'

/** A declared schema (field map or JSON Schema) as a table. @param caption what the schema describes, for screen readers */
export function SchemaTable({ schema, caption }: { schema: JsonObject; caption: string }) {
  const rows = useMemo(() => schemaRows(schema), [schema])
  if (rows.length === 0) return <p class="muted">No fields.</p>
  return (
    <Table caption={caption} columns={['Field', 'Type', 'Description']}>
      {rows.map((row) => (
        <Row key={`${row.parent} › ${row.name}`} row={row} />
      ))}
    </Table>
  )
}

function Row({ row }: { row: SchemaRow }) {
  return (
    <tr>
      <th scope="row" class={`schema-name schema-depth-${Math.min(row.depth, 6)}`}>
        {row.parent && <span class="visually-hidden">{row.parent} › </span>}
        {row.isField ? <code>{row.name}</code> : <span class="muted">{row.name}</span>}
      </th>
      <td class="schema-type">
        {row.type}
        {row.isRequired && <span class="schema-required"> required</span>}
      </td>
      <td class="schema-description">
        {row.description}
        {row.rules.length > 0 && (
          <ul class="schema-rules">
            {row.rules.map((rule) => (
              <li key={rule}>{rule}</li>
            ))}
          </ul>
        )}
      </td>
    </tr>
  )
}
