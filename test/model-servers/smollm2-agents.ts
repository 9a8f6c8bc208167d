import type { JsonObject } from '../../lib/core/json/json.ts'
import type { AgentFile } from './agents.ts'
import { object } from './output-schemas.ts'

/** Lengths are limited because a model this small does not always end a text by itself. */
const text = (maxLength: number, description: string) => ({ type: 'string', maxLength, description })

function anAgent(slug: string, input: JsonObject, output: JsonObject, instructions: string): AgentFile {
  return { frontMatter: { title: slug, slug, input, output: object(output) }, instructions }
}

const TEXT = { text: { type: 'string', description: 'The text.' } }

/** Agents as people try them first, each with an input. None has tools: the template of SmolLM2 cannot show them. */
export const AGENTS: { agent: AgentFile; input: JsonObject }[] = [
  {
    agent: anAgent(
      'extract-contact',
      TEXT,
      {
        name: text(40, 'The name of the person.'),
        city: { type: ['string', 'null'], maxLength: 30, description: 'The city, or null if there is none.' },
        phone: { type: ['string', 'null'], maxLength: 20, description: 'The phone number, or null.' },
      },
      'Extract the contact from the text.',
    ),
    input: { text: 'Hi, this is Maria Keller from Bern. You can reach me at +41 31 555 01 23 after noon.' },
  },
  {
    agent: anAgent(
      'triage-ticket',
      {
        subject: { type: 'string', description: 'The subject.' },
        body: { type: 'string', description: 'The message.' },
      },
      {
        priority: { type: 'string', enum: ['low', 'normal', 'high', 'urgent'], description: 'The priority.' },
        team: {
          type: 'string',
          enum: ['billing', 'accounts', 'technical', 'other'],
          description: 'The team.',
        },
        isIncident: { type: 'boolean', description: 'Whether something is broken.' },
        summary: text(120, 'One sentence for the team.'),
      },
      'Triage the support ticket.',
    ),
    input: {
      subject: 'Cannot log in',
      body: 'Since this morning the login page shows an error. We need access today.',
    },
  },
]
