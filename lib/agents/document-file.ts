/** The file that makes a folder an agent. */
export const DOCUMENT_FILE = 'agent.md'
