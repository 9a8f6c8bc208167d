import './list.css'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { useAgents } from '../api/agents.ts'
import { useMe } from '../state/session.ts'
import { CommittedInput, Suggestions } from './filters.tsx'

type Props = {
  /** Slug or ID. */
  agent: string
  /** Undefined: the list has no tenants. */
  tenantId?: string
  onChange: (change: { agent?: string; tenantId?: string }) => void
  /** Further filters. */
  children?: ComponentChildren
}

/** Filters of a list by agent and tenant. Texts filter when the field is left or on Enter: each change is a request. */
export function AgentTenantFilters({ agent, tenantId, onChange, children }: Props) {
  const id = useId()
  const boundTenant = useMe()?.tenantId ?? null
  return (
    <search class="list-filters">
      <div>
        <label for={`${id}-agent`}>Agent</label>
        <AgentInput id={`${id}-agent`} value={agent} onCommit={(text) => onChange({ agent: text })} />
      </div>
      {tenantId !== undefined && boundTenant === null && (
        <div>
          <label for={`${id}-tenant`}>Tenant</label>
          <CommittedInput
            id={`${id}-tenant`}
            value={tenantId}
            maxLength={MAX_TENANT_ID}
            isExact
            onCommit={(text) => onChange({ tenantId: text })}
          />
        </div>
      )}
      {children}
    </search>
  )
}

type AgentInputProps = Pick<Parameters<typeof CommittedInput>[0], 'id' | 'value' | 'onCommit' | 'required'>

/** A field for the slug or the ID of an agent, which suggests those that exist. */
export function AgentInput({ id, ...input }: AgentInputProps) {
  const agents = useAgents()
  return (
    <>
      <CommittedInput {...input} id={id} list={`${id}-agents`} placeholder="Slug or ID" />
      <Suggestions
        id={`${id}-agents`}
        values={[...(agents?.values() ?? [])].map(({ slug, title }) => [slug, title])}
      />
    </>
  )
}
