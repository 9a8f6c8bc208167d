import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import type { Table } from '../../lib/dynamodb/table.ts'
import { publishFolder } from '../../local/publish-folder.ts'
import type { Workplace } from '../workplace.ts'

/** Publishes `look-up`, a model agent whose one tool is at the address of the model server. */
export async function publishModelAgent(workplace: Workplace, table: Table, modelUrl: string): Promise<void> {
  const folder = await workplace.folder()
  await mkdir(join(folder, 'look-up'))
  await writeFile(join(folder, 'look-up', 'agent.md'), documentOf(new URL(modelUrl).host))
  await publishFolder(agentStore(table), folder, join(folder, 'published.json'))
}

const documentOf = (host: string) => `---
title: Look up
description: Answers questions about orders.
input:
  question: { type: string, description: What to answer. }
output:
  answer: { type: string, description: The answer. }
tools:
  - name: get_order
    description: Looks an order up.
    input: { id: { type: string, description: The order's number. } }
    http: { method: GET, url: "http://${host}/orders/{id}", allowedHosts: ["${host}"] }
execution: { maxAgentSteps: 500 }
---
Answer the question. Look every order up before you speak of it.
`
