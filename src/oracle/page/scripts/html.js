// The one place that knows which library draws: everything else imports from here.
import { h, render, Fragment, createContext } from "../vendor/preact.js";
import htm from "../vendor/htm.js";

export { h, render, Fragment, createContext };
export {
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from "../vendor/preact-hooks.js";
export const html = htm.bind(h);
