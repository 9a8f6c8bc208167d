/** In a file of its own, so that `npm start` can look for agents without loading the document's parser. */
export const DOCUMENT_FILE = 'agent.md'
