import type { JsonObject } from '../../lib/core/json/json.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { SchemaTable } from './schema-table.tsx'

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
