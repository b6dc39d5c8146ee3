// The widths at which the frame changes; see docs/page.md.
import { useEffect, useState } from "../html.js";

const FROM = [["ultra", 1800], ["wide", 1440], ["middle", 1024], ["tablet", 640], ["phone", 0]];
const nameOf = (pixels) => FROM.find(([, from]) => pixels >= from)[0];

export function useWidth() {
  const [name, setName] = useState(nameOf(innerWidth));
  useEffect(() => {
    const read = () => {
      setName(nameOf(innerWidth));
      document.body.classList.toggle("phone", innerWidth < 640);
    };
    addEventListener("resize", read);
    read();
    return () => removeEventListener("resize", read);
  }, []);
  return name;
}
