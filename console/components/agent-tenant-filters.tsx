import './list.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { useAgents } from '../api/agents.ts'
import { useMe } from '../state/session.ts'
import { toVisible } from './visible-text.tsx'

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
        <AgentInput id={`${id}-agent`} value={agent} onCommit={(text) => onChange({ agent: text.trim() })} />
      </div>
      {tenantId !== undefined && boundTenant === null && (
        <div>
          <label for={`${id}-tenant`}>Tenant</label>
          <CommittedInput
            id={`${id}-tenant`}
            value={tenantId}
            maxLength={128}
            onCommit={(text) => onChange({ tenantId: text })}
          />
        </div>
      )}
      {children}
    </search>
  )
}

type InputProps = {
  id: string
  value: string
  onCommit: (value: string) => void
  list?: string
  placeholder?: string
  maxLength?: number
  required?: boolean
}

/** A text that counts when it is complete. What is typed survives when the page is rendered again. */
export function CommittedInput({ value, onCommit, ...attributes }: InputProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <input
      {...attributes}
      type="text"
      value={typed}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onChange={({ currentTarget }) => onCommit(currentTarget.value)}
    />
  )
}

/** A field for the slug or the ID of an agent, which suggests those that exist. */
export function AgentInput({ id, ...input }: Pick<InputProps, 'id' | 'value' | 'onCommit' | 'required'>) {
  const agents = useAgents()
  return (
    <>
      <CommittedInput {...input} id={id} list={`${id}-agents`} placeholder="Slug or ID" />
      <datalist id={`${id}-agents`}>
        {[...(agents?.values() ?? [])].map(({ slug, title }) => (
          <option key={slug} value={slug}>
            {toVisible(title)}
          </option>
        ))}
      </datalist>
    </>
  )
}
