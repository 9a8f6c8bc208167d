import type { VersionDetails } from '../../lib/contract/records/agent.ts'
import { formatCount } from '../components/format.ts'
import { JsonView } from '../components/json-view.tsx'
import { Card } from '../components/page.tsx'
import { Text, VisibleText } from '../components/visible-text.tsx'

type Tool = VersionDetails['tools'][number]

const KINDS = { http: 'HTTP', lambda: 'Lambda', mcp: 'MCP server', agent: 'Agent' } as const

export const kindOf = (tool: Tool): string =>
  Object.entries(KINDS).find(([member]) => Object.hasOwn(tool, member))?.[1] ?? 'Tool'

export function VersionTools({ tools }: { tools: Tool[] }) {
  if (tools.length === 0) return null
  return (
    <Card title={`Tools: ${formatCount(tools.length)}`}>
      <ul class="stack plain-list">
        {tools.map((tool, index) => (
          <li key={index}>
            <p>
              <VisibleText text={String(tool.name)} class="mono" /> <span class="badge">{kindOf(tool)}</span>{' '}
              {tool.approval !== undefined && tool.approval !== false && (
                <span class="badge badge-warning">Needs approval</span>
              )}{' '}
              {tool.readOnly === true && <span class="badge">Read only</span>}
            </p>
            {typeof tool.description === 'string' && <Text class="long-text" text={tool.description} />}
            <details>
              <summary>
                Declaration
                <span class="visually-hidden">
                  {' '}
                  of <VisibleText text={String(tool.name)} />
                </span>
              </summary>
              <JsonView value={tool} label={`the declaration of ${String(tool.name)}`} />
            </details>
          </li>
        ))}
      </ul>
    </Card>
  )
}
